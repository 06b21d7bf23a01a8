"""From rendered files to the disk: what would change, as a diff or as a fact.

Nothing is written before everything is rendered, a file is replaced in one step, and only files that say in their
first lines that they are generated are ever deleted.
"""

from __future__ import annotations

import difflib
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from specbind.emit.core import MARKER, FileMap


@dataclass(frozen=True, slots=True)
class Change:
    """A file below the output root that differs: `old` None is a new file, `new` None a file to delete."""

    path: str
    old: str | None
    new: str | None


def changes(root: Path, files: FileMap, folders: Iterable[str]) -> list[Change]:
    """What it takes to make the disk match `files`; generated files in `folders` that are not among them are stale."""
    found = [Change(path, old, new) for path, new in files.items() if (old := read(root / path)) != new]
    found += [Change(path, read(root / path), None) for path in stale(root, files, folders)]
    return found


def stale(root: Path, files: FileMap, folders: Iterable[str]) -> Iterator[str]:
    """Generated files in `folders` that are not rendered any more, as paths below `root`."""
    for folder in folders:
        for here, _, names in sorted(os.walk(root / folder)):
            for name in sorted(names):
                path = Path(here, name)
                below = path.relative_to(root).as_posix()
                if below not in files and not path.is_symlink() and is_generated(path):
                    yield below


def is_generated(path: Path) -> bool:
    """Whether one of the first three lines (a shebang or an XML declaration may come first) carries the marker."""
    with path.open("rb") as file:
        return any(MARKER.encode() in file.readline(400) for _ in range(3))


def read(path: Path) -> str | None:
    """Text of a file with its line ends as they are, or None if there is none."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


def unified_diff(change: Change) -> str:
    """Unified diff from the disk to what would be generated."""
    old = f"a/{change.path}" if change.old is not None else "/dev/null"
    new = f"b/{change.path}" if change.new is not None else "/dev/null"
    lines = difflib.unified_diff((change.old or "").splitlines(True), (change.new or "").splitlines(True), old, new)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def apply(root: Path, change: Change) -> None:
    """Bring one file up to date; a reader sees the old text or the new one, never a part."""
    path = root / change.path
    if change.new is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(change.new.encode())
        os.chmod(temporary, path.stat().st_mode & 0o777 if path.exists() else 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
