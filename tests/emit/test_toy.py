"""A language is a folder: one that lies in the tests is found, asked, written, checked and reported like the others."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import specbind.emit
from specbind.cli import main
from specbind.emit.core import backends

ROOT = Path(__file__).resolve().parents[2]
TOY = Path(__file__).with_name("toy")
SPEC = """\
spec: 1
library: {name: kiosk, prefix: kiosk_, version: 0.1.0, since: 0.1.0, doc: "A kiosk."}
groups:
  - {name: all, title: All, doc: "Everything."}
enums:
  - name: status
    prefix: ""
    role: status
    doc: "Results."
    values:
      - {name: OK, value: 0, doc: "Done."}
      - {name: ERROR_INVALID_ARGUMENT, value: -1, doc: "An argument is wrong."}
functions:
  - name: open
    group: all
    doc: "Opens it."
    params:
      - {name: n, type: i32, doc: "How wide."}
    errors: [ERROR_INVALID_ARGUMENT]
"""


@pytest.fixture
def forth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of another spec, with the toy among the back ends."""
    monkeypatch.setattr(specbind.emit, "__path__", [*specbind.emit.__path__, str(TOY)])
    (tmp_path / "abi").mkdir()
    path = tmp_path / "abi" / "llama_speculative.yaml"
    path.write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_it_is_found_beside_the_others(forth: Path) -> None:
    assert {"forth", "c", "go"} <= set(backends())


def test_its_files_are_written_and_checked(forth: Path) -> None:
    assert run("generate", "--lang", "forth").exit_code == 0
    made = Path("bindings_out/forth/kiosk.fth")
    assert made.read_text().splitlines()[1:] == ["0 constant OK", "-1 constant ERROR-INVALID-ARGUMENT"]
    assert run("generate", "--lang", "forth", "--check").exit_code == 0
    forth.write_text(SPEC.replace("value: -1", "value: -4"))
    done = run("generate", "--lang", "forth", "--check")
    assert done.exit_code == 1
    assert "-4 constant ERROR-INVALID-ARGUMENT" in done.output
    stale = made.with_name("old.fth")
    shutil.copy(made, stale)
    run("generate", "--lang", "forth")
    assert not stale.exists()


def test_lint_asks_it_for_clashes_reserved_words_and_what_it_cannot_express(forth: Path) -> None:
    value = '      - {name: DUP, value: 1, doc: "Twice."}\n      - {name: ERROR_INVALID'
    forth.write_text(SPEC.replace("      - {name: ERROR_INVALID", value))
    done = run("lint")
    assert done.exit_code == 1
    assert "SB032" in done.output and "value 'DUP' of 'status' would be called 'DUP' in Forth" in done.output
    forth.write_text(
        SPEC.replace("functions:\n", 'callbacks:\n  - {name: bell, doc: "Rings.", thread: caller, lifetime: the call, params: []}\nfunctions:\n')
        .replace('"How wide."}\n', '"How wide."}\n      - {name: bell, type: bell, nullable: true, doc: "Rings."}\n')
    )  # fmt: skip
    done = run("lint")
    assert "SB033" in done.output and "which Forth cannot express" in done.output and "polling" in done.output


def test_the_report_shows_it(forth: Path, tmp_path: Path) -> None:
    text = (ROOT / "abi" / "llama_speculative.yaml").read_text(encoding="utf-8")
    forth.write_text(text)
    toyless = run("lint")
    assert "which Forth cannot express" in toyless.output, "the real ABI has callbacks"
    from specbind.emit import report
    from specbind.spec.load import load

    chosen = {"forth": backends()["forth"]}
    spec = load(forth)
    shown = report.render(spec, chosen, {"forth": chosen["forth"].render(spec)})[report.PATH]
    assert "| Forth | `forth` | 1 |" in shown
    assert "| callbacks | 3 | Forth (use polling) |" in shown
    assert "## Forth\n\n- **left out**: everything but constants. It is a toy." in shown


def test_nothing_else_in_the_repository_knows_it() -> None:
    known = [
        path.relative_to(ROOT)
        for folder in ("generator", "abi", "native", "bindings_out", "ci")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix in (".py", ".yaml", ".toml", ".jinja", ".md") and "forth" in path.read_text(errors="ignore").lower().split()
    ]
    assert known == []
