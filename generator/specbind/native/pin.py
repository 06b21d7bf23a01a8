"""abi/llama_cpp.yaml: which llama.cpp the shim belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Sdist:
    """A Python source distribution that carries a llama.cpp tree."""

    package: str
    version: str
    file: str
    size: int  # bytes
    sha256: str
    folder: str  # of the tree inside the archive


@dataclass(frozen=True)
class Pin:
    """One commit of llama.cpp and where its source comes from."""

    version: str
    commit: str  # 40 digits
    sdist: Sdist

    @property
    def short_commit(self) -> str:
        return self.commit[:9]


def load_pin(path: Path) -> Pin:
    """Read abi/llama_cpp.yaml."""
    import yaml

    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    return Pin(version=raw["version"], commit=raw["commit"], sdist=Sdist(**raw["sdist"]))
