"""ci/backends.yaml: how llama.cpp is configured for each backend."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# As in the file -> what platform.machine() says.
MACHINES = {"x86_64": ("x86_64", "amd64"), "arm64": ("arm64", "aarch64")}


@dataclass(frozen=True)
class Backend:
    """One way to build llama.cpp."""

    name: str
    title: str
    options: Mapping[str, str]  # CMake variables for this machine, in the order in which they are given


def load_backends(path: Path, machine: str | None = None) -> dict[str, Backend]:
    """All backends by name, for `machine` or for this one."""
    import yaml

    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    machine = (machine or platform.machine()).lower()
    kind = next((name for name, aliases in MACHINES.items() if machine in aliases), "")

    def options(row: Mapping[str, Mapping[str, object]]) -> dict[str, str]:
        merged = {**row.get("cmake", {}), **row.get(f"cmake_{kind}", {})}
        return {name: cmake_value(value) for name, value in merged.items()}

    return {
        name: Backend(name, row["title"], {**options(raw["all"]), **options(row)}) for name, row in raw["backends"].items()
    }


def cmake_value(value: object) -> str:
    if isinstance(value, bool):  # YAML 1.1 reads ON and OFF
        return "ON" if value else "OFF"
    return str(value)
