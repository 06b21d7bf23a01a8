"""The table of languages and cases: what failed and what did not run is seen."""

from __future__ import annotations

from pathlib import Path

from specbind.harness.matrix import Matrix, languages, required_languages

ROOT = Path(__file__).resolve().parents[2]


def matrix() -> Matrix:
    return Matrix(["go", "swift"], ["one", "two"], required=frozenset({"go"}))


def row(language: str, case: str, *wrong: str) -> dict[str, object]:
    return {"language": language, "case": case, "layer": "loop", "wrong": list(wrong)}


def test_a_required_language_that_did_not_run_is_a_failure() -> None:
    assert matrix().failures() == ["go: did not run"]


def test_a_case_that_a_language_left_out_is_a_failure() -> None:
    seen = matrix()
    seen.add([row("go", "one")])
    assert seen.failures() == ["go: two did not run"]
    assert [seen.cell("go", case) for case in seen.cases] == ["ok", "-"]


def test_a_difference_is_shown_with_its_layer_in_any_language() -> None:
    seen = matrix()
    seen.add([row("go", "one"), row("go", "two"), row("swift", "one"), row("swift", "two", "drafted: expected 1, got 2")])
    assert seen.failures() == ["swift: two, loop: drafted: expected 1, got 2"]
    assert seen.cell("swift", "two") == "FAILED (loop)"


def test_every_language_with_a_runner_is_a_column() -> None:
    names = languages(ROOT)
    assert names == ["csharp-mono", "csharp-coreclr", "go", "python", "rust", "swift"]
    assert required_languages(names) == {"csharp-mono", "csharp-coreclr", "go", "python"}
