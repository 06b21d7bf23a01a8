"""Where the spec of a checkout is."""

from __future__ import annotations

from pathlib import Path

SPEC = Path("abi", "llama_speculative.yaml")


def find_spec(folder: Path) -> Path | None:
    """The spec of the checkout around `folder`, None if that is not in one; relative where it can be, to read well."""
    for root in (folder, *folder.parents):
        if (root / SPEC).is_file():
            return SPEC if root == folder else root / SPEC
    return None
