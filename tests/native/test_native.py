"""The shim's C++ on its own: text handling, random call sequences, and both under sanitizers."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from specbind.harness.oracle.cycle import NEXT

ROOT = Path(__file__).resolve().parents[2]
NATIVE = ROOT / "native"

# model, draft or None, strategies
FUZZED = {
    "plain": ("target-llama", None, "none"),
    "draft-simple": ("target-llama", "draft-llama", "draft-simple"),
    "draft-mtp, three heads": ("mtp-mimo2-3", None, "draft-mtp"),
    "draft-mtp, a file of its own": ("mtp-mimo2-trunk", "mtp-mimo2-heads", "draft-mtp"),
    "draft-mtp, shared memory": ("target-gemma4", "mtp-gemma4-assistant", "auto"),
    "draft-mtp, hybrid": ("mtp-qwen35", None, "draft-mtp"),
    "draft-simple, hybrid": ("hybrid-qwen35", "draft-llama", "draft-simple"),
    "n-grams, hybrid": ("hybrid-qwen35", None, "ngram-simple,ngram-map-k,ngram-cache"),
    "a recurrent draft": ("target-llama", "hybrid-qwen35", "draft-simple"),
    "draft-eagle3": ("target-llama", "draft-eagle3", "draft-eagle3"),
    "draft-dflash": ("target-llama", "draft-dflash", "draft-dflash"),
    "draft-dspark": ("target-llama", "draft-dspark", "draft-dspark"),
    "ngram-cache": ("target-llama", None, "ngram-cache"),
    "n-grams and a draft": ("target-llama", "draft-llama", "ngram-simple,ngram-map-k,ngram-map-k4v,ngram-mod,ngram-cache,draft-simple"),
}

# Calls per run; set SPECBIND_FUZZ_CALLS for as long a run as one likes.
CALLS = int(os.environ.get("SPECBIND_FUZZ_CALLS", "1500"))


def test_text_is_cut_at_characters_and_stop_strings(tmp_path: Path) -> None:
    program = tmp_path / "text"
    sources = [NATIVE / "tests" / "text_test.cpp", NATIVE / "src" / "text.cpp"]
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", f"-I{NATIVE / 'src'}"]
    subprocess.run(["c++", *flags, *sources, "-o", program], check=True)
    assert subprocess.run([program], capture_output=True, text=True, check=False).stdout == "ok\n"


def compile_program(name: str, build: Any, out: Path, *flags: str) -> Path:
    program = out / name
    subprocess.run(
        ["c++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", *flags, f"-I{NATIVE / 'include'}", NATIVE / "tests" / f"{name}.cpp",
         "-o", program, f"-L{build.lib_dir}", "-lllama_speculative", f"-Wl,-rpath,{build.lib_dir}"],
        check=True,
    )  # fmt: skip
    return program


@pytest.fixture(scope="module")
def next_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("next") / "next.txt"
    path.write_text(" ".join(map(str, NEXT)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def fuzzer(build: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program("fuzz", build, tmp_path_factory.mktemp("fuzz"))


@pytest.fixture(scope="module")
def sanitized(build: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fuzzer and the shim under address and undefined."""
    from specbind import native

    result = native.build(sanitize="address,undefined")
    return compile_program("fuzz", result, tmp_path_factory.mktemp("sanitized"), "-fsanitize=address,undefined")


# model, draft or None, strategies
THREADED = {
    "draft-simple": ("target-llama", "draft-llama", "draft-simple"),
    "draft-mtp, hybrid": ("mtp-qwen35", None, "draft-mtp"),
    "n-grams": ("target-llama", None, "ngram-mod,ngram-cache"),
}


@pytest.mark.parametrize("sanitize", ["", "thread"], ids=["as built", "thread sanitizer"])
def test_two_objects_on_two_threads_do_not_meet(
    build: Any, models: dict[str, Path], next_file: Path, tmp_path: Path, sanitize: str
) -> None:
    """Each decodes while a third thread cancels both and gives the log to another callback."""
    from specbind import native

    result = native.build(sanitize=sanitize) if sanitize else build
    program = compile_program("threads", result, tmp_path, *([f"-fsanitize={sanitize}"] if sanitize else []), "-pthread")
    for target, draft, strategies in THREADED.values():
        ran = subprocess.run(
            [program, next_file, models[target], models[draft] if draft else "-", strategies, "300"],
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        if "unexpected memory mapping" in ran.stderr:
            pytest.skip("this kernel's address layout is too random for the compiler's thread sanitizer: `sysctl vm.mmap_rnd_bits=28`")
        assert ran.returncode == 0, ran.stderr[-3000:]
        assert re.fullmatch(r"ok: [1-9]\d* cancelled, [1-9]\d* lines\n", ran.stdout)


def fuzz(program: Path, next_file: Path, models: dict[str, Path], name: str, seed: int, calls: int) -> None:
    target, draft, strategies = FUZZED[name]
    result = subprocess.run(
        [program, next_file, models[target], models[draft] if draft else "-", strategies, str(seed), str(calls)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "GGML_NO_BACKTRACE": "1", "UBSAN_OPTIONS": "halt_on_error=1"},
    )
    assert result.returncode == 0, result.stderr[-2000:] + result.stdout
    figures = dict(zip(("tried", "valid", "tokens", "refused"), map(int, re.findall(r"\d+", result.stdout)), strict=True))
    assert figures["valid"] * 5 >= figures["tried"] > calls // 4
    assert figures["tokens"] > calls and figures["refused"] > calls // 20


@pytest.mark.parametrize("name", FUZZED)
def test_random_calls_never_change_a_token(fuzzer: Path, next_file: Path, models: dict[str, Path], name: str) -> None:
    for seed in (1, 2):
        fuzz(fuzzer, next_file, models, name, seed, CALLS)


@pytest.mark.parametrize("name", FUZZED)
def test_random_calls_are_clean_under_address_and_undefined(
    sanitized: Path, next_file: Path, models: dict[str, Path], name: str
) -> None:
    fuzz(sanitized, next_file, models, name, 3, CALLS // 3)
