"""Each rule has a pair of ABIs on which exactly its findings come, and a text that explains it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from specbind.cli import main
from specbind.diff.finding import Verdict
from specbind.diff.rules import FILE, SCHEMA, grades, page, rules
from specbind.diff.sides import Abi, Reading, compare_sides, open_side
from specbind.spec.source import Leaf, make_source, read
from specbind.spec.structure import Checker

FIXTURES = Path(__file__).with_name("fixtures")
PAIRS = sorted(path.parent for path in FIXTURES.rglob("expected.yaml"))
READING = Reading(prefix="kiosk_")


def side(folder: Path, name: str, made: Path) -> Abi:
    """A side of a fixture: a spec, a header, or a library from its C source."""
    (path,) = folder.glob(f"{name}.*")
    if path.suffix == ".c":
        cc = shutil.which("cc")
        if cc is None:
            pytest.skip("a C compiler is missing: `apt install gcc`")
        library = made / f"{name}.so"
        subprocess.run([cc, "-shared", "-fPIC", "-I", FIXTURES, "-o", library, path], check=True)
        path = library
    return open_side(str(path), READING, FIXTURES)


@pytest.mark.parametrize("folder", PAIRS, ids=lambda folder: folder.relative_to(FIXTURES).as_posix())
def test_exactly_the_expected_findings_come(folder: Path, tmp_path: Path) -> None:
    expected = yaml.safe_load((folder / "expected.yaml").read_text(encoding="utf-8"))
    old, new = side(folder, "old", tmp_path), side(folder, "new", tmp_path)
    found = compare_sides(old, new, READING)
    assert sorted((f.rule, f.item, list(f.targets)) for f in found) == sorted(
        (each["rule"], each["item"], each.get("targets", [])) for each in expected
    )
    assert (
        folder.relative_to(FIXTURES).parts[0] in {finding.rule for finding in found}
        or len(folder.relative_to(FIXTURES).parts) > 1
    )
    for finding in found:
        assert finding.verdict is rules()[finding.rule].verdict
        assert finding.message
        assert finding.old or finding.new or finding.verdict < Verdict.SOURCE or finding.rule.startswith(("struct", "enum-flags"))
    assert [f.verdict for f in found] == sorted((f.verdict for f in found), reverse=True)
    for each in (old, new):
        assert compare_sides(each, each, READING) == ()


def test_every_rule_has_a_pair_and_every_pair_a_rule() -> None:
    assert {folder.relative_to(FIXTURES).parts[0] for folder in PAIRS} == set(rules())


def test_a_finding_points_into_the_new_side_or_the_old_one_when_the_item_is_gone(tmp_path: Path) -> None:
    def place(rule: str) -> tuple[str, str]:
        folder = FIXTURES / rule
        (finding,) = compare_sides(side(folder, "old", tmp_path), side(folder, "new", tmp_path), READING)
        line = Path(finding.span.file).read_text(encoding="utf-8").splitlines()[finding.span.line - 1]
        return Path(finding.span.file).name, line[finding.span.column - 1 :].split(",")[0]

    assert place("field-sign-changed") == ("new.yaml", "{name: copies")
    assert place("constant-removed") == ("old.yaml", "{name: ALL")


def test_the_rules_keep_to_their_schema_and_the_quick_reading_agrees_with_the_whole() -> None:
    source = make_source(str(FILE), FILE.read_text(encoding="utf-8"))
    root, found = read(source)
    checker = Checker(source, json.loads(SCHEMA.read_text(encoding="utf-8")))
    checker.value(root or Leaf(None, 0, 0), checker.schema, None, None)
    assert found + checker.result.found == []
    assert grades() == {rule.id: (rule.verdict, rule.bump) for rule in rules().values()}
    assert len(grades()) == FILE.read_text(encoding="utf-8").count("\n- id: ")


def test_the_step_that_a_rule_demands_follows_from_its_verdict() -> None:
    steps = {Verdict.NONE: "patch", Verdict.ADDITIVE: "minor"}
    assert [rule.id for rule in rules().values() if rule.bump != steps.get(rule.verdict, "major")] == []
    assert all(rule.languages for rule in rules().values())


def test_the_code_makes_no_finding_without_a_rule() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in FILE.parent.glob("*.py"))
    named = set(re.findall(r'found\(\s*"([a-z-]+)"', text))
    assert named and named <= set(grades())


def test_explain_shows_a_rule_with_who_feels_it_and_what_to_do_instead() -> None:
    output = CliRunner().invoke(main, ["explain", "parameters-swapped"]).output
    assert output == page(rules()["parameters-swapped"])
    assert "Verdict: **meaning break**. The version must rise by at least a major step." in output
    assert "- python: the same, unless all arguments are given by name\n" in output
    assert "- every other language: no sign of it\n" in output
    assert "## Instead\n\nLeave the order as it is" in output
    assert (
        "no code 'parameter-swapped'. Did you mean 'parameters-swapped'?"
        in CliRunner().invoke(main, ["explain", "parameter-swapped"]).output
    )
