"""How long steps show themselves: a bar on a terminal, plain lines elsewhere, nothing for callers of the Python API."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

# Called with the steps done and the steps there are.
Advance = Callable[[int, int], None]


class Progress(Protocol):
    """Receives what a build does."""

    def note(self, text: str) -> None:
        """A line that stays."""

    def phase(self, title: str) -> AbstractContextManager[Advance]:
        """A step that may take long."""


class Silent:
    def note(self, text: str) -> None:
        pass

    @contextmanager
    def phase(self, title: str) -> Iterator[Advance]:
        yield lambda done, total: None


class Lines:
    """A line when a phase starts and at most one in `interval` seconds while it runs, for logs and pipes."""

    def __init__(self, write: Callable[[str], None], interval: float = 10.0) -> None:
        self._write = write
        self._interval = interval

    def note(self, text: str) -> None:
        self._write(text)

    @contextmanager
    def phase(self, title: str) -> Iterator[Advance]:
        self._write(f"{title} ...")
        start = last = time.monotonic()

        def advance(done: int, total: int) -> None:
            nonlocal last
            if time.monotonic() - last >= self._interval:
                last = time.monotonic()
                self._write(f"{title}: {100 * done // total} %, {last - start:.0f} s")

        yield advance


class Bar:
    """A bar that goes when its phase ends."""

    def note(self, text: str) -> None:
        import click

        click.echo(text, err=True)

    @contextmanager
    def phase(self, title: str) -> Iterator[Advance]:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(title, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)


def for_stderr() -> Progress:
    """What suits the standard error stream of this process."""
    import click

    return Bar() if sys.stderr.isatty() else Lines(lambda text: click.echo(text, err=True))
