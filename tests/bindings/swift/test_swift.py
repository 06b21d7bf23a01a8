"""The Swift package: formatted, without a warning, documented, and right with the real library."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

import pytest

from specbind.harness.oracle.cycle import CYCLE, MISSES, NEXT, VOCABULARY, Target, by_attention, run, with_misses
from specbind.harness.oracle.expect import ModelDrafter, generation

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "bindings_out" / "swift"
SUITE = Path(__file__).with_name("suite")

Swift = Callable[..., str]


@pytest.fixture(scope="session")
def swift(run_program: Callable[..., str], cache: Path, missing: Callable[[str], NoReturn]) -> Swift:
    """`swift(folder, command, arguments...)`; what the compiler makes lies outside the checkout."""
    if shutil.which("swift") is None:
        missing("Swift")

    sources = sha256()
    for path in sorted((PACKAGE / "Sources").rglob("*.*")):
        sources.update(path.read_bytes())
    stamp = cache / "swift" / "sources"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != sources.hexdigest():
        # a package that depends on another folder keeps the offsets of structs that have changed there since
        shutil.rmtree(cache / "swift", ignore_errors=True)
        stamp.parent.mkdir(parents=True)
        stamp.write_text(sources.hexdigest(), encoding="utf-8")

    def swift(folder: Path, command: str, *arguments: str, stdin: str | None = None) -> str:
        scratch = ("--scratch-path", str(cache / "swift" / folder.name)) if command in ("build", "run", "test") else ()
        return run_program(["swift", command, *scratch, *arguments], folder, stdin=stdin)

    return swift


@pytest.mark.parametrize("folder", [PACKAGE, SUITE], ids=["package", "suite"])
def test_the_code_is_as_swift_format_wants_it(swift: Swift, folder: Path) -> None:
    swift(folder, "format", "lint", "--strict", "--recursive", ".")


def test_the_package_and_its_examples_build_without_a_warning(swift: Swift) -> None:
    swift(PACKAGE, "build", "-Xswiftc", "-warnings-as-errors")


def test_the_library_can_be_linked_instead(run_program: Callable[..., str], swift: Swift, build: object) -> None:
    """The trait makes the table from the header's own declarations, so that this also compares the two."""
    sources = sorted(map(str, (PACKAGE / "Sources" / "LlamaSpeculative").glob("*.swift")))
    run_program(
        ["swiftc", "-typecheck", "-swift-version", "6", "-D", "Linked", "-I", str(PACKAGE / "Sources" / "CLlamaSpeculative"),
         *sources],
        PACKAGE,
    )  # fmt: skip


def test_names_that_are_words_of_the_language_and_another_prefix_compile(
    run_program: Callable[..., str], swift: Swift, varied: Any, render: Callable[[Any, str, Path], Path], tmp_path: Path
) -> None:
    root = render(varied, "swift", tmp_path)
    swift(root, "format", "lint", "--strict", "--recursive", ".")
    sources = sorted(map(str, (root / "Sources" / "MyOwn").glob("*.swift")))
    run_program(["swiftc", "-typecheck", "-swift-version", "6", "-I", str(root / "Sources" / "CMyOwn"), *sources], root)


def test_the_suite_passes_with_the_real_library(swift: Swift) -> None:
    said = swift(SUITE, "test", "--no-parallel", "--disable-xctest")
    passed = re.search(r"Test run with (\d+) tests? in \d+ suites? passed", said)
    written = sum(path.read_text(encoding="utf-8").count('@Test("') for path in (SUITE / "Tests").rglob("*.swift"))
    assert passed and int(passed[1]) == written > 0


def test_every_shared_case_gives_what_it_says(swift: Swift, check_cases: Callable[[Callable[[str], str]], None]) -> None:
    check_cases(lambda cases: swift(SUITE, "run", "--quiet", "cases", stdin=cases))


def test_the_examples_run(swift: Swift, models: dict[str, Path]) -> None:
    prompt = run(NEXT, CYCLE[0], 24)
    target, draft = Target(NEXT, by_attention), ModelDrafter((with_misses(NEXT, MISSES),), 3)
    expected = generation(target.next_token, [draft], prompt, 64)
    text = VOCABULARY.decode(prompt).decode()
    paths = (str(models["target-llama"]), str(models["draft-llama"]))
    said = swift(PACKAGE, "run", "--quiet", "stream", *paths, stdin=text)
    answer, _, facts = said.rpartition("\n64 tokens, ")
    assert answer.replace("[", "").replace("]", "") == VOCABULARY.decode(expected.tokens).decode()
    assert answer.count("[") > 0
    assert facts.startswith(f"{expected.accepted} of {expected.drafted} draft tokens accepted")
    said = swift(PACKAGE, "run", "--quiet", "rounds", *paths, stdin=text)
    assert said.count("kept") == 6 and "draft tokens accepted" in said
