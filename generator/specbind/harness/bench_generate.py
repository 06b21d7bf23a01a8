"""How long the commands that maintainers type take, and how that grows with the spec.

Commands are measured as processes, with everything that starting Python costs. Twice each: for a text that was never
seen, as after an edit, and for one that was, as in a check of what is committed. Growth is measured inside this process,
on specs with two and four times as many functions, structs and enums.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from specbind.emit.core import backends
from specbind.spec.load import check_source, load
from specbind.spec.locate import SPEC
from specbind.spec.source import make_source

# seconds; for what is typed most
GOALS = {"start-up": 0.15, "lint": 0.4, "generate --check": 0.4}
SIZES = (1, 2, 4)
LINEAR = 1.5  # four times the spec may take as many times four times the time


@dataclass(frozen=True)
class Command:
    """Seconds of a command, the median; `fresh` for a text that was never seen, None where none is read."""

    name: str
    known: float
    fresh: float | None

    @property
    def reaches_goal(self) -> bool:
        return self.known < GOALS.get(self.name, float("inf"))


@dataclass(frozen=True)
class Growth:
    """Seconds of one step for each of SIZES."""

    name: str
    seconds: tuple[float, ...]

    @property
    def factor(self) -> float:
        """Time per item of the largest spec over that of the smallest: 1 is linear."""
        return self.seconds[-1] / self.seconds[0] / SIZES[-1]

    @property
    def is_linear(self) -> bool:
        return self.factor < LINEAR


def commands(root: Path, folder: Path, repeat: int) -> list[Command]:
    """Measure the commands on the spec of the checkout `root`, and on edited copies in `folder`."""
    text = (root / SPEC).read_text(encoding="utf-8")
    path = folder / SPEC.name

    def process(*arguments: str) -> float:
        begin = time.perf_counter()
        command = [sys.executable, "-m", "specbind", *arguments]
        subprocess.run(command, cwd=root, env=environment(), stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - begin

    def fresh(make: Callable[[str], Sequence[str]]) -> float:
        """Each time another text: a comment of its own at the end."""
        path.write_text(f"{text}# {time.time_ns()}\n", encoding="utf-8")
        return process(*make(str(path)))

    out = str(folder / "out")
    process("generate", "--spec", str(root / SPEC), "--out", out)
    rows: list[tuple[str, Sequence[str], Callable[[str], Sequence[str]] | None]] = [
        ("start-up", ["--help"], None),
        ("lint", ["lint"], lambda path: ["lint", path]),
        ("generate --check", ["generate", "--check"], partial(edited_check, out)),
    ]
    rows += [
        (f"generate --lang {name}", ["generate", "--check", "--lang", name], partial(edited_check, out, "--lang", name))
        for name in backends()
    ]
    found = []
    for title, known, other in rows:
        process(*known)
        times = [(process(*known), None if other is None else fresh(other)) for _ in range(repeat)]
        new = [each for _, each in times if each is not None]
        found.append(Command(title, median([each for each, _ in times]), median(new) if new else None))
    return found


def edited_check(out: str, *arguments: str) -> list[str]:
    """Check of another spec against what it gave before. The spec's path is the last argument."""
    *more, path = arguments
    return ["generate", "--check", *more, "--spec", path, "--out", out]


def environment() -> dict[str, str]:
    """That of this process, so that the same package runs."""
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def growth(root: Path, folder: Path, repeat: int) -> list[Growth]:
    """Measure each step for specs of growing size."""
    text = (root / SPEC).read_text(encoding="utf-8")
    chosen = backends()
    found: dict[str, list[float]] = {name: [] for name in ("lint", *chosen)}
    for size in SIZES:
        path = folder / f"times-{size}.yaml"
        path.write_text(larger(text, size), encoding="utf-8")
        source, spec = make_source(str(path), path.read_text(encoding="utf-8")), load(path)
        found["lint"].append(quickest(repeat, partial(check_source, source, chosen.values())))
        for name, backend in chosen.items():
            found[name].append(quickest(repeat, partial(backend.render, spec)))
    return [Growth(name, tuple(seconds)) for name, seconds in found.items()]


def larger(text: str, size: int) -> str:
    """A spec with `size` times the functions, structs and enums of `text`, all of them with documentation and checks."""
    numbers = {name: text.count("\n  - name: ", *section(text, name)) for name in ("enums", "structs", "functions")}
    more: dict[str, list[str]] = {name: [] for name in numbers}
    for index in range(numbers["enums"] * (size - 1)):
        more["enums"].append(MORE_ENUM.format(i=index))
    for index in range(numbers["structs"] * (size - 1)):
        more["structs"].append(MORE_STRUCT.format(i=index))
    for index in range(numbers["functions"] * (size - 1)):
        more["functions"].append(MORE_FUNCTION.format(i=index, struct=index % max(1, len(more["structs"]))))
    for name in ("functions", "structs", "enums"):
        _, end = section(text, name)
        text = text[:end].rstrip("\n") + "\n" + "".join(more[name]) + "\n" + text[end:]
    return text


def section(text: str, name: str) -> tuple[int, int]:
    """Where a top-level list begins and ends."""
    begin = text.index(f"\n{name}:\n") + 1
    following = [text.index(f"\n{other}:\n") + 1 for other in SECTIONS if f"\n{other}:\n" in text]
    return begin, min((each for each in following if each > begin), default=len(text))


SECTIONS = ("groups", "constants", "foreign", "handles", "enums", "callbacks", "structs", "functions")

MORE_ENUM = """\
  - name: more_kind_{i}
    doc: "A kind of the spec that is measured."
    values:
      - {{name: FIRST, value: 0, doc: "The first."}}
      - {{name: SECOND, value: 1, doc: "The second."}}
      - {{name: THIRD, value: 2, doc: "The third."}}
"""
MORE_STRUCT = """\
  - name: more_options_{i}
    growable: false
    doc: "Options of the spec that is measured."
    fields:
      - {{name: n_items, type: i32, min: 0, max: 64, unit: items, doc: "How many."}}
      - {{name: n_more, type: i32, min: 0, max: 64, unit: items, doc: "How many more."}}
      - {{name: share, type: f32, min: 0, max: 1, unit: fraction, doc: "Which share."}}
      - {{name: n_least, type: i32, min: 0, max: 64, unit: items, doc: "At least so many."}}
"""
MORE_FUNCTION = """\
  - name: more_work_{i}
    group: loop
    doc: "Work number {i} of the spec that is measured, see `more_options_{struct}`."
    params:
      - {{name: spec, type: spec}}
      - {{name: seq_id, type: i32, role: sequence, doc: "The sequence."}}
      - {{name: options, type: more_options_{struct}, direction: in, doc: "How to work."}}
      - {{name: out, type: i32, direction: out, array: capacity, count: n_out, doc: "Receives tokens."}}
      - {{name: capacity, type: size, unit: tokens, doc: "Room in `out`."}}
      - {{name: n_out, type: size, direction: out, unit: tokens, doc: "Their number."}}
    errors: [ERROR_INVALID_ARGUMENT, ERROR_BUFFER_TOO_SMALL, ERROR_BUSY, ERROR_INTERNAL]
"""


def quickest(repeat: int, work: Callable[[], object]) -> float:
    """Seconds of the quickest of some runs; the first one may have to load something."""
    times = []
    for _ in range(repeat + 1):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times[1:])


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
