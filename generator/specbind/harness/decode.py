"""The native decode program and its allocation counter: one generation in its own process, as a value."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from specbind.native.build import BuildResult
from specbind.native.errors import NativeError
from specbind.native.paths import checkout
from specbind.native.tools import find_tools


@dataclass(frozen=True)
class Generation:
    """What to generate. `params` are numbers of the ABI's params."""

    model: Path
    draft: Path | None
    strategies: str
    params: dict[str, int | float]
    prompt: str
    n_predict: int
    n_threads: int = 1

    def longer(self) -> Generation:
        """The same with twice as many tokens: what grows is what a round costs."""
        return Generation(self.model, self.draft, self.strategies, self.params, self.prompt, 2 * self.n_predict, self.n_threads)


@dataclass(frozen=True)
class Outcome:
    """Of one run. `parts` is where the time went, in seconds: draft, decode, process, sample."""

    n_tokens: int
    seconds: float
    drafted: int = 0
    accepted: int = 0
    rounds: int = 0
    tokens: tuple[int, ...] = ()
    parts: dict[str, float] | None = None

    @property
    def rate(self) -> float:
        """Tokens per second."""
        return self.n_tokens / self.seconds


@dataclass(frozen=True)
class Allocations:
    """Heap allocations of one run. `stacks` counts them by the library's offsets on the stack, innermost first."""

    total: int
    stacks: Counter[tuple[int, ...]]


class DecodeProgram:
    """native/tests/decode.cpp and count_allocations.c, compiled in `folder` against a build of the library."""

    def __init__(self, build: BuildResult, folder: Path) -> None:
        self.build = build
        sources = checkout() / "native" / "tests"
        cxx = find_tools().cxx
        self.program, self.counter = folder / "decode", folder / "count_allocations.so"
        includes = [f"-I{d}" for d in build.include_dirs]
        compile_one(
            [cxx, "-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", *includes, sources / "decode.cpp", "-o", self.program,
             f"-L{build.lib_dir}", "-lllama_speculative", "-lllama", "-lggml", "-lggml-base", f"-Wl,-rpath,{build.lib_dir}"]
        )  # fmt: skip
        compile_one([cxx, "-x", "c", "-std=c11", "-O2", "-shared", "-fPIC", sources / "count_allocations.c", "-o", self.counter])

    def command(self, mode: str, g: Generation, prompt_file: Path) -> list[str]:
        params = [f"{name}={value}" for name, value in g.params.items()]
        return [
            str(self.program), mode, str(g.model), str(g.draft or "-"), str(prompt_file), str(g.n_predict), str(g.n_threads), g.strategies,
            *params,
        ]  # fmt: skip

    def run(self, mode: str, g: Generation) -> Outcome:
        """`mode` is `loop`, this library's, or `plain`, one llama_decode per token."""
        with tempfile.TemporaryDirectory() as folder:
            prompt_file = Path(folder) / "prompt.txt"
            prompt_file.write_text(g.prompt, encoding="utf-8")
            said: dict[str, Any] = json.loads(output(self.command(mode, g, prompt_file)))
        parts = {name: said[f"{name}_us"] / 1e6 for name in ("draft", "decode", "process", "sample")}
        tokens = tuple(said["tokens"])
        return Outcome(len(tokens), said["seconds"], said["drafted"], said["accepted"], said["rounds"], tokens, parts)

    def allocations(self, mode: str, g: Generation, *, stacks: bool = False) -> Allocations:
        with tempfile.TemporaryDirectory() as folder:
            prompt_file = Path(folder) / "prompt.txt"
            prompt_file.write_text(g.prompt, encoding="utf-8")
            return self.count(self.command(mode, g, prompt_file), self.build.library if stacks else None)

    def count(self, command: list[str], library: Path | None = None) -> Allocations:
        """Allocations of any program, with the stacks inside `library` if it is given."""
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "allocations"
            env = {**os.environ, "LD_PRELOAD": str(self.counter), "ALLOCATIONS_OUT": str(out)}
            if library:
                env["ALLOCATIONS_LIBRARY"] = str(library.resolve().name)
            output(command, env)
            first, *rest = out.read_text(encoding="utf-8").splitlines()
        rows = (line.split() for line in rest)
        return Allocations(int(first.split()[1]), Counter({tuple(int(f, 16) for f in frames): int(n) for n, *frames in rows}))


class Symbols:
    """Function names of a library that is not stripped, by offset."""

    def __init__(self, library: Path) -> None:
        self.library = library

    @cached_property
    def table(self) -> list[tuple[int, str]]:
        rows = (re.match(r"([0-9a-f]+) [tTwWu] (.+)", line) for line in output(["nm", "-C", str(self.library)]).splitlines())
        return sorted((int(row[1], 16), row[2]) for row in rows if row)

    def name(self, offset: int) -> str:
        at = bisect_right(self.table, (offset, "\x7f")) - 1
        return self.table[at][1] if at >= 0 else "?"

    def owner(self, stack: tuple[int, ...]) -> str:
        """The innermost function that is not the standard library's."""
        names = [self.name(offset) for offset in stack]
        return next((n for n in names if not re.match(r"(void |bool |int )?(std|__gnu_cxx)::|operator new", n)), names[0])


def compile_one(command: list[str | Path]) -> None:
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if result.returncode:
        raise NativeError(f"A test program does not compile: {result.stderr.strip()}")


def output(command: list[str], env: dict[str, str] | None = None, *, merge: bool = False) -> str:
    """What a program prints, with its errors among it if `merge`. Raises NativeError with its last words when it fails."""
    result = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT if merge else subprocess.PIPE, text=True, check=False, env=env, errors="replace"
    )
    if result.returncode:
        words = "\n".join((result.stdout if merge else result.stderr).strip().splitlines()[-5:])
        raise NativeError(f"{Path(command[0]).name} ended with {result.returncode}: {words}")
    return result.stdout
