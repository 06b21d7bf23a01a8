"""How each language is asked for its view of the ABI: a tiny program, compiled with the binding's own table of layouts.

The numbers come from the language's own means (`offset_of!`, `unsafe.Offsetof`, `MemoryLayout`, `Marshal.OffsetOf`, cffi),
through the same table that the binding compares with a library when it loads one. Compiled programs are kept in the
user's cache, under a hash of all that went into them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from specbind.cache import cache_dir
from specbind.check.view import View, read_rows
from specbind.native.paths import digest
from specbind.native.tools import which

PROGRAMS = Path(__file__).with_name("programs")
TIMEOUT = 600  # seconds; a first compilation on a busy machine takes long


@dataclass(frozen=True)
class Job:
    """What is to be done in an empty folder: files to write, commands to run there, and the command that prints the rows."""

    run: list[str]
    commands: list[list[str]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Language:
    """`toolchain` is its row in ci/toolchains.yaml, `needs` are the commands; `sources` patterns below its binding."""

    title: str
    toolchain: str
    needs: tuple[str, ...]
    sources: tuple[str, ...]
    job: Callable[[Path, dict[str, str]], Job]  # of the binding's folder, and the paths of what it needs


def python(binding: Path, _: dict[str, str]) -> Job:
    return Job([sys.executable, str(PROGRAMS / "view.py")], env={"PYTHONPATH": str(binding / "src")})


def rust(binding: Path, tools: dict[str, str]) -> Job:
    rustc, crate = [tools["rustc"], "--edition=2021"], binding / "llama-speculative-sys" / "src" / "lib.rs"
    return Job(
        ["./view"],
        [
            [*rustc, "--crate-type=rlib", "--crate-name=llama_speculative_sys", str(crate)],
            [*rustc, "--extern", "llama_speculative_sys=libllama_speculative_sys.rlib", "-o", "view", str(PROGRAMS / "view.rs")],
        ],
    )


def go(binding: Path, tools: dict[str, str]) -> Job:
    module = f"module view\n\ngo 1.24\n\nrequire llamaspeculative v0.0.0\n\nreplace llamaspeculative => {binding.as_posix()}\n"
    settings = {"GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOPROXY": "off", "GOWORK": "off", "CGO_ENABLED": "1",
                "GOCACHE": str(cache_dir() / "check" / "go-cache")}  # fmt: skip
    return Job(["./view"], [[tools["go"], "build", "-o", "view", "."]], {"go.mod": module, "view.go": text("view.go")}, settings)


def swift(binding: Path, tools: dict[str, str]) -> Job:
    # top-level statements are allowed in a file of this name only
    sources = ["main.swift", str(binding / "Sources" / "LlamaSpeculative" / "Table.swift")]
    header = str(binding / "Sources" / "CLlamaSpeculative")
    build = [tools["swiftc"], "-swift-version", "6", "-I", header, *sources, "-o", "view"]
    return Job(["./view"], [build], {"main.swift": text("view.swift")})


def csharp(binding: Path, tools: dict[str, str]) -> Job:
    sources = sorted(str(path) for path in (binding / "LlamaSpeculative").glob("*.cs"))
    build = [tools["mcs"], "-langversion:7.2", "-unsafe", "-warn:0", "-out:view.exe", *sources, str(PROGRAMS / "view.cs")]
    return Job([tools["mono"], "view.exe"], [build])


def dart(binding: Path, tools: dict[str, str]) -> Job:
    """The table is private to its file, so that the program stands in a copy of it."""
    files = {f"lib/src/{path.name}": path.read_text(encoding="utf-8") for path in (binding / "lib" / "src").glob("*.dart")}
    files["lib/src/layout.dart"] += text("view.dart")
    files["pubspec.yaml"] = (binding / "pubspec.yaml").read_text(encoding="utf-8")
    return Job([tools["dart"], "run", "lib/src/layout.dart"], [[tools["dart"], "pub", "get", "--no-example"]], files)


def text(name: str) -> str:
    return (PROGRAMS / name).read_text(encoding="utf-8")


LANGUAGES: dict[str, Language] = {
    "python": Language("Python", "", (), ("src/**/*.py",), python),
    "rust": Language("Rust", "Rust", ("rustc",), ("llama-speculative-sys/src/*.rs",), rust),
    "go": Language("Go", "Go", ("go",), ("go.mod", "raw/*"), go),
    "swift": Language("Swift", "Swift", ("swiftc",), ("Sources/CLlamaSpeculative/**/*", "Sources/LlamaSpeculative/Table.swift"), swift),
    "csharp": Language("C#", "Mono", ("mcs", "mono"), ("LlamaSpeculative/*.cs",), csharp),
    "dart": Language("Dart", "Dart", ("dart",), ("pubspec.yaml", "lib/src/*.dart"), dart),
}


def language_view(name: str, bindings: Path, hint: str) -> View:
    """The view of one language. `hint` is how to install its toolchain."""
    language = LANGUAGES[name]
    tools = {command: str(path) for command in language.needs if (path := which(command))}
    if missing := [command for command in language.needs if command not in tools]:
        return View(name, language.title, skipped=f"{missing[0]} is missing: {hint}")
    binding = bindings.resolve() / name
    if not binding.is_dir():
        return View(name, language.title, failed=f"{binding} is missing: run `specbind generate`")
    try:
        return View(name, language.title, read_rows(rows(name, language, binding, tools)))
    except (subprocess.TimeoutExpired, OSError, ProgramError, ValueError) as error:
        return View(name, language.title, failed=str(error))


class ProgramError(Exception):
    """What a compiler or a program said."""


def rows(name: str, language: Language, binding: Path, tools: dict[str, str]) -> str:
    """What the language's program prints; it is compiled if none was kept for the same sources."""
    job = language.job(binding, tools)
    if not job.commands:
        return say(job.run, binding, job.env)
    kept = cache_dir() / "check" / f"{name}-{digest(*identity(language, binding, tools))}"
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=kept.parent) as temporary:
            folder = Path(temporary, "program")
            for path, content in job.files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(content, encoding="utf-8")
            folder.mkdir(exist_ok=True)
            for command in job.commands:
                say(command, folder, job.env)
            if not kept.is_dir():  # another process may have been quicker
                folder.rename(kept)
    return say(job.run, kept, job.env)


def identity(language: Language, binding: Path, tools: dict[str, str]) -> Iterator[str]:
    """All that decides what a compiled program prints."""
    for path in sorted([*PROGRAMS.glob("view.*"), *(p for pattern in language.sources for p in binding.glob(pattern) if p.is_file())]):
        yield path.name
        yield path.read_text(encoding="utf-8")
    for path in map(Path, tools.values()):
        yield f"{path.resolve()} {path.stat().st_mtime_ns}"


def say(command: list[str], folder: Path, env: dict[str, str]) -> str:
    program = str(folder / command[0]) if command[0].startswith("./") else command[0]
    done = subprocess.run(
        [program, *command[1:]], cwd=folder, env=os.environ | env, capture_output=True, text=True, errors="replace", timeout=TIMEOUT
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        reason = next((line for line in said if "error" in line.lower()), said[-1] if said else f"it ended with {done.returncode}")
        raise ProgramError(f"{Path(command[0]).name}: {reason.strip()}")
    return done.stdout
