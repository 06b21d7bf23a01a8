"""Waivers: who answers for a break, until when, and what happens when one no longer fits."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from specbind.diff.change import found
from specbind.diff.finding import Comparison, Side, Verdict
from specbind.diff.waivers import apply, load
from specbind.spec.diagnostics import SpecError

SWAPPED = found("parameters-swapped", "function move(a, b)", "b, a where a, b stood")
REMOVED = found("function-removed", "function sell", "gone")
TODAY = date(2027, 3, 31)


def file(tmp_path: Path, *entries: str) -> Path:
    path = tmp_path / "waivers.yaml"
    path.write_text(
        "waivers:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries) if entries else "waivers: []\n", encoding="utf-8"
    )
    return path


def entry(rule: str = "parameters-swapped", item: str = '"function move(a, b)"', expires: str = "2027-03-31") -> str:
    return f"rule: {rule}, item: {item}, reason: Nobody calls it., owner: me, expires: {expires}"


def total(findings: tuple[object, ...]) -> Verdict:
    side = Side("", "", "")
    return Comparison(side, side, findings).verdict  # type: ignore[arg-type]


def test_a_waived_break_stays_in_the_list_but_does_not_count(tmp_path: Path) -> None:
    findings, errors = apply((SWAPPED, REMOVED), load(file(tmp_path, entry())), TODAY)
    assert errors == ()
    assert [finding.waiver is not None for finding in findings] == [True, False]
    assert (total((SWAPPED, REMOVED)), total(findings)) == (Verdict.MEANING, Verdict.BINARY)
    assert findings[0].waiver is not None and findings[0].waiver.span.line == 2


def test_a_waiver_holds_on_its_last_day_and_not_the_day_after(tmp_path: Path) -> None:
    waivers = load(file(tmp_path, entry()))
    findings, errors = apply((SWAPPED,), waivers, date(2027, 4, 1))
    assert total(findings) is Verdict.MEANING
    assert [error.split(": ", 1)[1] for error in errors] == [
        "the waiver of parameters-swapped for 'function move(a, b)' expired on 2027-03-31; me answers for it"
    ]


@pytest.mark.parametrize("other", [entry(rule="parameters-reordered"), entry(item='"function move(b, a)"')], ids=["rule", "item"])
def test_a_waiver_that_matches_nothing_is_an_error(tmp_path: Path, other: str) -> None:
    path = file(tmp_path, other)
    findings, errors = apply((SWAPPED,), load(path), TODAY)
    assert total(findings) is Verdict.MEANING
    assert len(errors) == 1 and errors[0].startswith(f"{path}:2:5: ") and errors[0].endswith("matches no finding: remove it")


@pytest.mark.parametrize(
    ("keys", "place", "message"),
    [
        ("rule: parameters-swaped, item: x, reason: y, owner: z, expires: 2027-01-01", "parameters-swaped", "did you mean 'parameters-swapped'?"),
        ("rule: function-removed, item: x, reason: y, expires: 2027-01-01", "{", "has no 'owner'"),
        ("rule: function-removed, item: x, reason: y, owner: z, expires: soon", "soon", "a date such as 2027-03-31"),
        ("rule: function-removed, item: x, reason: y, owner: z, expires: 2027-02-30", "2027-02-30", "there is no day 2027-02-30"),
        ("rule: function-removed, item: x, reason: '', owner: z, expires: 2027-01-01", "''", "some text"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_waiver_is_shown_at_its_place(tmp_path: Path, keys: str, place: str, message: str) -> None:
    path = file(tmp_path, keys)
    line = path.read_text(encoding="utf-8").splitlines()[1]
    with pytest.raises(SpecError) as caught:
        load(path)
    assert [(d.span.line, d.span.column) for d in caught.value.diagnostics] == [(2, line.index(place) + 1)]
    assert message in str(caught.value)


@pytest.mark.parametrize(("text", "message"), [("waver: []\n", "unknown key 'waver'"), ("", "the file is empty")])
def test_a_file_that_is_no_list_of_waivers_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "waivers.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match=message):
        load(path)


def test_the_waivers_of_the_checkout_can_be_read() -> None:
    load(Path(__file__).resolve().parents[2] / "ci" / "abi-waivers.yaml")
