"""The report of a generation: what is there, what is not, and why; and that `--check` covers it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from specbind.cli import main
from specbind.emit import report
from specbind.emit.core import FileMap, backends
from specbind.layout.signature import spec_hash
from specbind.spec.load import load

ROOT = Path(__file__).resolve().parents[2]
YAML = Path("abi", "llama_speculative.yaml")
SPEC = load(ROOT / YAML)


@pytest.fixture(scope="module")
def rendered() -> dict[str, FileMap]:
    return {name: backend.render(SPEC) for name, backend in backends().items()}


@pytest.fixture(scope="module")
def text(rendered: dict[str, FileMap]) -> str:
    return report.render(SPEC, backends(), rendered)[report.PATH]


def test_every_target_has_its_number_of_files_and_lines(text: str, rendered: dict[str, FileMap]) -> None:
    rows = {m[1]: (int(m[2]), int(m[3])) for m in re.finditer(r"\| `(\w+)` \| (\d+) \| (\d+) \|", text)}
    assert rows == {name: (len(files), sum(len(t.splitlines()) for t in files.values())) for name, files in rendered.items()}
    assert f"ABI **{SPEC.version}**, hash `{spec_hash(SPEC)}`: {len(SPEC.functions)} functions" in text


def test_it_says_what_was_not_built_here_and_what_is_not_expressible(text: str) -> None:
    assert re.search(r"## C# class library\n\n- \*\*not built here\*\*: the profile for net7.0 and later with `LibraryImport`", text)
    assert re.search(r"## Dart package \(raw layer\)\n\n- \*\*left out\*\*: a safe layer", text)
    assert re.search(r"\| transferred objects \| 0 \| Go module \(use an object that stays the caller's\); Rust crates", text)


def test_functions_that_python_s_safe_modules_do_not_call_are_named(text: str) -> None:
    """The binding's own text decides: what it offers it calls by name."""
    listed = re.search(r"## Python\n\n- \*\*only in the raw layer\*\*: ([^.]*)\.", text)
    assert listed
    names = set(re.findall(r"`(\w+)`", listed[1]))
    assert {"hidden_row", "hidden_enable"} <= names
    source = (ROOT / "bindings_out" / "python" / "src" / "llama_speculative").glob("[!_]*.py")
    calls = {name for path in source for name in re.findall(r'"(\w+)"', path.read_text(encoding="utf-8"))}
    assert names.isdisjoint(calls)


def test_check_covers_the_report_unless_only_some_languages_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "abi").mkdir()
    shutil.copy(ROOT / YAML, tmp_path / YAML)
    monkeypatch.chdir(tmp_path)
    run = CliRunner()
    assert run.invoke(main, ["generate"]).exit_code == 0
    path = tmp_path / report.PATH
    path.write_text(path.read_text().replace("Generation report", "Something else"))
    done = run.invoke(main, ["generate", "--check"])
    assert done.exit_code == 1
    assert "-# Something else" in done.output and "+# Generation report" in done.output
    assert run.invoke(main, ["generate", "--check", "--lang", "c"]).exit_code == 0
