"""Where the spec of a checkout is."""

from __future__ import annotations

from pathlib import Path

SPEC = Path("abi", "llama_speculative.yaml")
BASELINES = Path("abi", "baselines")


def find_spec(folder: Path) -> Path | None:
    """The spec of the checkout around `folder`, None if that is not in one; relative where it can be, to read well."""
    for root in (folder, *folder.parents):
        if (root / SPEC).is_file():
            return SPEC if root == folder else root / SPEC
    return None


def root() -> Path:
    """The checkout around the current folder, or that folder."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / SPEC).is_file()), here)


def shown(path: Path) -> str:
    """A path as a reader would write it: relative where it is below the current folder."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
