"""ci/backends.yaml: how llama.cpp is configured for each backend, what that needs, and what its tests may expect."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specbind.native.errors import NativeError

# As in the file -> what platform.machine() says.
MACHINES = {"x86_64": ("x86_64", "amd64"), "arm64": ("arm64", "aarch64")}


@dataclass(frozen=True)
class Backend:
    """One way to build llama.cpp."""

    name: str
    title: str
    options: Mapping[str, str]  # CMake variables for this machine, in the order in which they are given
    exact: bool = False  # logits are the portable processor's
    required: bool = False  # in CI
    needs: tuple[str, ...] = ()  # programs and files; `a|b` is either
    packages: tuple[str, ...] = ()  # of Debian
    install: str = ""
    device: str = ""  # what the names of its devices begin with; empty is the processor
    servers: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    driver: tuple[str, ...] = ()  # command that says the version of the driver
    leave_out: tuple[str, ...] = ()  # libraries that are not shipped
    smoke: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()

    def missing(self) -> tuple[str, ...]:
        """What must be there to build it and is not."""
        return tuple(need for need in self.needs if not any(present(choice) for choice in need.split("|")))

    @property
    def remedy(self) -> str:
        """How to get what is missing."""
        return f"apt install {' '.join(self.packages)}" if self.packages else self.install


def present(need: str) -> bool:
    """Whether a program or a file is there."""
    from specbind.native.tools import which

    return Path(need).exists() if need.startswith("/") else which(need) is not None


def load_backends(path: Path, machine: str | None = None) -> dict[str, Backend]:
    """All backends by name, for `machine` or for this one. Raises NativeError for a row with an unknown column."""
    import yaml

    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    machine = (machine or platform.machine()).lower()
    kind = next((name for name, aliases in MACHINES.items() if machine in aliases), "")
    return {name: backend(name, row, raw["all"], kind) for name, row in raw["backends"].items()}


def all_backends(root: Path) -> dict[str, Backend]:
    """The backends of a checkout, for this machine."""
    return load_backends(root / "ci" / "backends.yaml")


def no_such_backend(name: str, known: Iterable[str]) -> NativeError:
    return NativeError(f"--backend {name}: there is no such backend. There are: {', '.join(known)}.")


def backend(name: str, row: Mapping[str, Any], common: Mapping[str, Any], kind: str) -> Backend:
    def options(of: Mapping[str, Any]) -> dict[str, str]:
        merged = {**of.get("cmake", {}), **of.get(f"cmake_{kind}", {})}
        return {variable: cmake_value(value) for variable, value in merged.items()}

    facts: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items() if not key.startswith("cmake")}
    if unknown := set(facts) - set(Backend.__dataclass_fields__):
        raise NativeError(f"ci/backends.yaml, {name}: there is no column {', '.join(sorted(unknown))}.")
    return Backend(name=name, options={**options(common), **options(row)}, **facts)


def cmake_value(value: object) -> str:
    if isinstance(value, bool):  # YAML 1.1 reads ON and OFF
        return "ON" if value else "OFF"
    return str(value)
