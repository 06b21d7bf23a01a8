"""One writer at a time in each folder of the cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from specbind.native.progress import Progress


@contextmanager
def locked(folder: Path, progress: Progress) -> Iterator[None]:
    """Hold the lock that lies beside `folder`; says so when another process has it."""
    import filelock

    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(folder.with_name(folder.name + ".lock"))
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        progress.note(f"Waiting for another process that works on {folder}")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
