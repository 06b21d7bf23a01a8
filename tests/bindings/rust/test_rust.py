"""The Rust crates: formatted, without a warning, documented, and right with the real library."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from specbind.harness.oracle.cycle import CYCLE, MISSES, NEXT, VOCABULARY, Target, by_attention, run, with_misses
from specbind.harness.oracle.expect import ModelDrafter, generation

ROOT = Path(__file__).resolve().parents[3]
CRATES = ROOT / "bindings_out" / "rust"
SUITE = Path(__file__).with_name("suite")

Cargo = Callable[..., str]


@pytest.fixture(scope="session")
def cargo(run_program: Callable[..., str], cache: Path, missing: Callable[[str], NoReturn]) -> Cargo:
    """`cargo(folder, arguments...)`, on copies, so that nothing is written into the checkout.

    They lie in the same place with the same times in every run, so that cargo builds what has changed.
    """
    if shutil.which("cargo") is None:
        missing("Rust")
    copy = cache / "rust"
    shutil.rmtree(copy, ignore_errors=True)
    for folder in (CRATES, SUITE):
        shutil.copytree(folder, copy / folder.relative_to(ROOT), ignore=shutil.ignore_patterns("target", "Cargo.lock"))

    def cargo(folder: Path, *arguments: str, stdin: str | None = None, **env: str) -> str:
        target = {"CARGO_TARGET_DIR": str(cache / "cargo"), "CARGO_NET_OFFLINE": "true", "RUST_BACKTRACE": "0"}
        place = copy / folder.relative_to(ROOT) if folder in (CRATES, SUITE) else folder
        return run_program(["cargo", *arguments], place, env=target | env, stdin=stdin)

    return cargo


@pytest.mark.parametrize("folder", [CRATES, SUITE], ids=["crates", "suite"])
def test_the_code_is_as_rustfmt_and_clippy_want_it(cargo: Cargo, folder: Path) -> None:
    cargo(folder, "fmt", "--all", "--check")
    cargo(folder, "clippy", "--quiet", "--all-targets", "--", "--deny", "warnings")


def test_the_library_can_be_linked_instead(cargo: Cargo, environment: dict[str, str]) -> None:
    folder = str(Path(environment["LLAMA_SPECULATIVE_LIB"]).parent)
    cargo(CRATES, "clippy", "--quiet", "--features", "llama-speculative/link", "--", "--deny", "warnings", LLAMA_SPECULATIVE_LIB_DIR=folder)
    said = cargo(
        SUITE, "run", "--quiet", "--features", "link", "--bin", "linked",
        LLAMA_SPECULATIVE_LIB_DIR=folder, LLAMA_SPECULATIVE_LIB="", LD_LIBRARY_PATH=folder,
    )  # fmt: skip
    assert said == "OK\n"


def test_everything_public_is_documented_and_its_examples_compile(cargo: Cargo) -> None:
    cargo(CRATES, "doc", "--quiet", "--no-deps", RUSTDOCFLAGS="--deny warnings")
    said = cargo(CRATES, "test", "--quiet", "--doc")
    assert "test result: ok" in said


def test_the_suite_passes_with_the_real_library(cargo: Cargo) -> None:
    said = cargo(SUITE, "test", "--quiet", "--tests")
    passed = sum(int(line.split()[3]) for line in said.splitlines() if line.startswith("test result: ok."))
    assert passed == sum(path.read_text(encoding="utf-8").count("\n#[test]\n") for path in (SUITE / "tests").glob("*.rs")) > 0


def test_every_shared_case_gives_what_it_says(cargo: Cargo, check_cases: Callable[[Callable[[str], str]], None]) -> None:
    check_cases(lambda cases: cargo(SUITE, "run", "--quiet", "--bin", "cases", stdin=cases))


def test_the_examples_run(cargo: Cargo, models: dict[str, Path]) -> None:
    prompt = run(NEXT, CYCLE[0], 24)
    target, draft = Target(NEXT, by_attention), ModelDrafter((with_misses(NEXT, MISSES),), 3)
    expected = generation(target.next_token, [draft], prompt, 64)
    text = VOCABULARY.decode(prompt).decode()
    paths = (str(models["target-llama"]), str(models["draft-llama"]))
    said = cargo(CRATES, "run", "--quiet", "--example", "stream", "--", *paths, stdin=text)
    answer, _, facts = said.rpartition("\n64 tokens, ")
    assert answer.replace("[", "").replace("]", "") == VOCABULARY.decode(expected.tokens).decode()
    assert answer.count("[") > 0
    assert facts.startswith(f"{expected.accepted} of {expected.drafted} draft tokens accepted")
    said = cargo(CRATES, "run", "--quiet", "--example", "rounds", "--", *paths, stdin=text)
    assert said.count("kept") == 6 and "draft tokens accepted" in said


def test_what_is_added_to_the_spec_is_there_under_any_prefix(cargo: Cargo, cache: Path, varied: Any, render: Callable[..., Path]) -> None:
    root = render(varied, "rust", cache / "varied")
    cargo(root, "clippy", "--quiet", "--all-targets", "--", "--deny", "warnings")
    objects = (root / "my-own" / "src" / "objects.rs").read_text(encoding="utf-8")
    head = re.search(r"pub fn peek\(([^)]*)\) -> ([^{]*) {", objects)
    assert head is not None
    assert " ".join(head[1].split()) == "&mut self, seq_id: i32, r#type: bool, func: Option<&str>, data: &[u8],"
    assert head[2] == "Result<(Outcome, i32, Finish)>"
    assert objects.count('#[deprecated(note = "Use \\"seq_info\\".")]\n    pub fn peek') == 1
    structs = (root / "my-own" / "src" / "structs.rs").read_text(encoding="utf-8")
    assert "    pub r#match: f32,\n" in structs and "r#match: 0.5,\n" in structs and "r#loop: true,\n" in structs
    assert "    Abstract,\n" in (root / "my-own" / "src" / "enums.rs").read_text(encoding="utf-8")
    assert "llama_speculative" not in "".join(path.read_text(encoding="utf-8") for path in root.rglob("*.rs")).replace("llama_speculative.yaml", "")
