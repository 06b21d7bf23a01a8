"""Where a user's downloads, builds and other things that can be made again belong, and results that are kept there.

A result is found by a hash of everything that it was made from, the code that made it included, so it is never out of
date. A cache that is damaged, or that cannot be written, is as good as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path

KEPT = 50  # entries of each kind
SUM = hashlib.sha256().digest_size  # bytes at the beginning of an entry


def cache_dir() -> Path:
    """Folder for downloads and builds: `SPECBIND_CACHE`, or the user cache of the platform."""
    given = os.environ.get("SPECBIND_CACHE")
    if given:
        return Path(given).expanduser().resolve()
    import platformdirs

    return Path(platformdirs.user_cache_dir("specbind", appauthor=False))


def key(*parts: str) -> str:
    """The name of a result that was made from `parts`, which may be long texts."""
    return hashlib.sha256("\0".join(map(repr, parts)).encode("utf-8", "replace")).hexdigest()


def code(folders: Iterable[str | Path] = ()) -> str:
    """A hash of the Python version and of every file of this package, and of `folders` that code comes from besides."""
    state = hashlib.sha256(sys.version.encode())
    for folder in (Path(__file__).parent, *folders):
        add_files(state, str(folder))
    return state.hexdigest()


def add_files(state: hashlib._Hash, folder: str) -> None:
    """Add names and contents of the files below a folder, without what Python and tools leave there."""
    for entry in sorted(os.scandir(folder), key=lambda each: each.name):
        if entry.name.startswith((".", "__pycache__")):
            continue
        state.update(f"{entry.name}\0".encode())
        if entry.is_dir():
            add_files(state, entry.path)
            continue
        with open(entry.path, "rb", buffering=0) as file:
            text = file.read()
        state.update(f"{len(text)}\0".encode() + text)


def recall(kind: str, name: str) -> bytes | None:
    """A result that was kept, None if it was not, or if it is damaged."""
    with contextlib.suppress(OSError):
        entry = (cache_dir() / kind / name).read_bytes()
        check, result = entry[:SUM], entry[SUM:]
        return result if hashlib.sha256(result).digest() == check else None
    return None


def keep(kind: str, name: str, result: bytes) -> None:
    """Keep a result, and drop the oldest of its kind where there are too many."""
    with contextlib.suppress(OSError):
        folder = cache_dir() / kind
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{os.getpid()}"
        temporary.write_bytes(hashlib.sha256(result).digest() + result)
        os.replace(temporary, folder / name)
        entries = sorted((path for path in folder.iterdir() if path.is_file()), key=lambda path: path.stat().st_mtime_ns)
        for path in entries[:-KEPT]:
            path.unlink(missing_ok=True)
