"""`specbind lint` and `specbind explain`, as a user and a machine meet them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from specbind.cli import main
from specbind.spec.codes import codes, page, title

HERE = Path(__file__).parent
SAMPLE = HERE / "sample.yaml"
WRONG = HERE / "fixtures" / "SB012.yaml"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


def test_a_spec_without_mistakes_ends_with_0_and_says_what_was_checked() -> None:
    result = run("lint", SAMPLE)
    assert (result.exit_code, result.output) == (0, f"{SAMPLE}: no mistakes (10 functions, 3 structs, 3 enums)\n")


def test_mistakes_end_with_1_and_look_like_those_of_a_compiler(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(SAMPLE.read_text().replace("unit: shelves", "units: shelves"))
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "units" in text)
    result = run("lint", path)
    assert result.exit_code == 1
    source = path.read_text().splitlines()[line - 1]
    margin, column = " " * len(str(line)), source.index("units")
    keys = "name, type, doc, direction, array, nullable, role, lifetime, default, min, max, unit, since, deprecated"
    assert result.output.splitlines() == [
        f"{path}:{line}:{column + 1}: error[SB012]: unknown key 'units' in field 'n_shelves' of struct 'settings'",
        f"{line} | {source}",
        f"{margin} | {' ' * column}^^^^^",
        f"{margin} = expected: one of {keys}",
        f"{margin} = did you mean 'unit'?",
        "",
        f"1 mistake in {path}. `specbind explain SB012` says more about the first.",
    ]


def test_a_tab_before_a_mistake_keeps_the_caret_below_it(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(SAMPLE.read_text().replace("n_shelves, type: i32, ", "n_shelves,\ttype: int, "))
    lines = run("lint", path).output.splitlines()
    below = lines[2]
    assert "\t" in below
    assert below.replace("\t", "").strip("0123456789 |") == "^^^"


def test_json_has_every_mistake_with_its_place() -> None:
    result = run("lint", WRONG, "--format", "json")
    assert result.exit_code == 1
    report = json.loads(result.output)
    assert (report["file"], report["count"]) == (str(WRONG), 3)
    first = report["diagnostics"][0]
    line = WRONG.read_text().splitlines()[first["line"] - 1]
    assert first == {
        "code": "SB012",
        "title": "Unknown key",
        "file": str(WRONG),
        "line": 21,
        "column": line.index("defualt") + 1,
        "length": 7,
        "message": "unknown key 'defualt' in parameter 'n' of function 'run'",
        "expected": first["expected"],
        "suggestion": "default",
        "source": line,
    }
    assert report["diagnostics"][1]["suggestion"] is None
    clean = run("lint", SAMPLE, "--format", "json")
    assert (clean.exit_code, json.loads(clean.output)) == (0, {"file": str(SAMPLE), "count": 0, "diagnostics": []})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("lint", "missing.yaml"), "File 'missing.yaml' does not exist"),
        (("lint", SAMPLE, "--format", "xml"), "'xml' is not one of 'text', 'json'"),
        (("explain", "SB999"), "there is no code 'SB999'"),
        (("explain", "SB0411"), "Did you mean 'SB041'?"),
    ],
)
def test_wrong_arguments_end_with_2_and_one_message(arguments: tuple[str | Path, ...], text: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert text in result.output
    assert "Traceback" not in result.output


def test_outside_a_checkout_lint_asks_for_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("lint")
    assert result.exit_code == 2
    assert "no abi/llama_speculative.yaml here or in a folder above" in result.output


def test_inside_a_checkout_lint_finds_the_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "abi").mkdir()
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "abi" / "llama_speculative.yaml").write_text(SAMPLE.read_text())
    monkeypatch.chdir(tmp_path / "deep" / "er")
    assert run("lint").exit_code == 0
    monkeypatch.chdir(tmp_path)
    assert run("lint").output.startswith("abi/llama_speculative.yaml: no mistakes")


def test_explain_shows_the_page_of_a_code_and_the_list_of_all() -> None:
    assert run("explain", "SB012").output == page("SB012")
    assert run("explain", "sb012").output == page("SB012")
    assert run("explain").output.startswith("".join(f"{code}  {title(code)}\n" for code in codes()))


@pytest.mark.parametrize("command", ["lint", "explain", "layout"])
def test_help_documents_an_example_and_the_exit_codes(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"specbind {command}" in result.output.split("Examples:")[1]
    assert "Exit codes:\n    0  " in result.output
    assert "\n    2  " in result.output


def test_a_command_that_needs_the_spec_shows_its_mistakes_and_ends_with_2() -> None:
    result = CliRunner().invoke(main, ["layout", str(WRONG)])
    assert result.exit_code == 2
    assert "error[SB012]" in result.stderr
    assert result.stdout == ""


def test_colour_is_for_terminals_only() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from specbind.cli import main; main()", "lint", WRONG], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert "\x1b[" in CliRunner().invoke(main, ["lint", str(WRONG)], color=True).output
