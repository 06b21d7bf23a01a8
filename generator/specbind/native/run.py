"""Running a tool: its output in a log file, its progress shown, its failure told in a few lines."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from specbind.native.errors import NativeError
from specbind.native.progress import Advance

TAIL = 15  # lines of a log in a message
FIRST_ERROR = re.compile(r"\berror( [A-Z]+\d+)?:|undefined (reference|symbol)")


def run(
    command: Sequence[str | Path],
    *,
    what: str,
    log: Path,
    env: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] = lambda line: None,
) -> None:
    """Run `command` and append its output to `log`.

    `what` begins the message of a failure: "Building llama.cpp". `on_line` sees each line of output.
    Ctrl-C reaches the tool too, and it has ended when KeyboardInterrupt goes on from here.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    tail: deque[str] = deque(maxlen=TAIL)
    first_error = ""
    with log.open("a", encoding="utf-8") as out:
        print("$", *command, file=out, flush=True)
        with subprocess.Popen(
            [str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            env={**os.environ, **(env or {})},
        ) as process:  # fmt: skip
            assert process.stdout is not None
            try:
                for line in map(str.rstrip, process.stdout):
                    print(line, file=out)
                    tail.append(line)
                    if not first_error and FIRST_ERROR.search(line):
                        first_error = line.strip()
                    on_line(line)
                code = process.wait()
            except BaseException:
                stop(process)
                raise
    if code != 0:
        raise NativeError(failure(what, first_error, tail, log))


def failure(what: str, first_error: str, tail: Sequence[str], log: Path) -> str:
    """The message for a tool that failed: the first error it named, the end of its log, and where the rest is."""
    head = f"{what} failed: {first_error}" if first_error else f"{what} failed."
    return "\n".join([head, f"The end of {log}:", *(f"  {line}" for line in tail)])


def stop(process: subprocess.Popen[str]) -> None:
    """End a tool as Ctrl-C does, so that it removes what it has half written."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def ninja_progress(advance: Advance) -> Callable[[str], None]:
    """Reads ninja's `[done/total]`."""
    return read_progress(r"\[(\d+)/(\d+)\]", advance)


def make_progress(advance: Advance) -> Callable[[str], None]:
    """Reads the percentage of CMake's makefiles."""
    return read_progress(r"\[ *(\d+)(?=%\])", advance)


def read_progress(pattern: str, advance: Advance) -> Callable[[str], None]:
    """`pattern` finds what is done at the beginning of a line, and the total, or else 100."""
    search = re.compile(pattern)

    def on_line(line: str) -> None:
        if match := search.match(line):
            done, total = (int(n) for n in (*match.groups(), "100")[:2])
            advance(done, total)

    return on_line
