"""A released ABI as a file: everything a comparison needs, the same bytes each time, and only at the right version."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from specbind.cli import main
from specbind.diff.baseline import dump, load, newest
from specbind.diff.compare import compare
from specbind.diff.errors import DiffError
from specbind.spec.load import load as load_spec
from specbind.spec.source import make_source

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "spec" / "sample.yaml"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the sample as its spec, at version 1.2.0, and no release yet."""
    (tmp_path / "abi").mkdir()
    text = SAMPLE.read_text(encoding="utf-8").replace("version: 0.3.0", "version: 1.2.0")
    (tmp_path / "abi" / "llama_speculative.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def change(checkout: Path, old: str, new: str) -> None:
    path = checkout / "abi" / "llama_speculative.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def release(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["baseline", "--release", *arguments])


@pytest.mark.parametrize("path", [SAMPLE, ROOT / "abi" / "llama_speculative.yaml"], ids=["sample", "abi"])
def test_a_spec_does_not_differ_from_its_own_baseline_in_either_direction(path: Path) -> None:
    spec = load_spec(path)
    released, abi_hash = load(make_source("1.0.0.yaml", dump(spec)))
    assert compare(spec, released, documented=False) == compare(released, spec, documented=False) == ()
    from specbind.layout.signature import spec_hash

    assert abi_hash == spec_hash(spec) == spec_hash(released)


def test_a_baseline_knows_all_that_a_spec_says_but_documentation() -> None:
    """Each fact of the sample that is changed in the baseline's text is found against the spec."""
    spec = load_spec(SAMPLE)
    text = dump(spec)
    facts = [
        ("name: TAX, type: f64, value: 0.07", "name: TAX, type: f64, value: 0.08", "constant-changed"),
        ("release: press_free", "release: press_end", "release-function-changed"),
        ("release: close", "release: open", "release-function-changed"),
        ("prefix: paper_", "prefix: news_", "enum-prefix-changed"),
        ("flags: true", "flags: false", "enum-flags-changed"),
        ("{name: WEEKLY, value: 2}", "{name: WEEKLY, value: 4}", "enum-value-changed"),
        ("thread: caller", "thread: any", "threads-widened"),
        ("default: 6.5", "default: 6.0", "default-changed"),
        ("max: 64", "max: 63", "range-widened"),
        ("unit: shelves", "unit: racks", "unit-changed"),
        ("role: amount", "role: price", "role-changed"),
        ("which: destination", "which: target", "role-changed"),
        ("all: true", "all: false", "range-widened"),
        ("name: greeting, type: str, nullable: true", "name: greeting, type: str", "null-accepted"),
        ("ownership: borrowed", "ownership: transferred", "parameter-ownership-changed"),
        ("lifetime: static", "lifetime: ever", "lifetime-changed"),
        ("returns_lifetime: \"the next call on the same object\"", "returns_lifetime: ever", "lifetime-changed"),
        ("direction: inout", "direction: out", "parameter-direction-changed"),
        ("results: [SOLD_OUT]", "results: []", "results-added"),
        ("errors: [ERROR_INVALID_ARGUMENT, ERROR_SHUT]", "errors: [ERROR_INVALID_ARGUMENT]", "errors-added"),
        ("threads: any", "threads: one", "threads-widened"),
        ("deprecated: {since: \"0.2.0\", note: \"Use `takings.amount`.\"}", "threads: one", "deprecated"),
    ]  # fmt: skip
    for old, new, rule in facts:
        assert old in text, old
        other, _ = load(make_source("1.0.0.yaml", text.replace(old, new)))
        assert rule in {finding.rule for finding in compare(other, spec, documented=False)}, old


def test_documentation_and_the_order_of_items_leave_no_trace() -> None:
    spec = load_spec(SAMPLE)
    shuffled = dataclasses.replace(spec, doc="Another.", functions=spec.functions[::-1], structs=spec.structs[::-1])
    assert dump(shuffled) == dump(spec)
    assert "doc" not in dump(spec)


def test_what_is_written_twice_has_the_same_bytes_and_one_part_a_line() -> None:
    text = dump(load_spec(SAMPLE))
    released, _ = load(make_source("1.0.0.yaml", text))
    assert dump(released) == text
    assert "      - {name: n_shelves, type: i32, default: 4, min: 1, max: 64, unit: shelves}\n" in text
    assert max(map(len, text.splitlines())) < 200


def test_the_highest_version_is_the_newest_not_the_last_by_name(tmp_path: Path) -> None:
    for name in ("1.9.0.yaml", "1.10.0.yaml", "0.99.99.yaml", "notes.yaml"):
        (tmp_path / name).touch()
    assert newest(tmp_path) == tmp_path / "1.10.0.yaml"
    assert newest(tmp_path / "nothing") is None


def test_a_baseline_that_is_cut_short_is_refused_with_its_name() -> None:
    with pytest.raises(DiffError, match=r"1\.0\.0\.yaml is not whole: write it anew"):
        load(make_source("1.0.0.yaml", "baseline: 1\nhash: 0123\nfunctions: []\n"))


def test_the_first_release_is_written_and_the_second_is_there_already(checkout: Path) -> None:
    result = release()
    assert (result.exit_code, result.output) == (0, "abi/baselines/1.2.0.yaml written.\n")
    written = (checkout / "abi" / "baselines" / "1.2.0.yaml").read_bytes()
    assert written.decode() == CliRunner().invoke(main, ["baseline"]).output
    result = release()
    assert (result.exit_code, result.output) == (0, "abi/baselines/1.2.0.yaml is there already, and nothing changed since.\n")
    assert (checkout / "abi" / "baselines" / "1.2.0.yaml").read_bytes() == written


@pytest.mark.parametrize(
    ("old", "new", "lowest"),
    [
        ("What is sold, as in", "What is on sale, as in", None),
        ("- {name: BOTH, value: 3, doc: \"`SIGN` and `DESK`.\"}", "- {name: BOTH, value: 3, doc: \"`SIGN` and `DESK`.\"}\n      - {name: DOOR, value: 4, doc: \"The door.\"}", "1.3.0"),
        ("name: n_copies, type: i32, role: amount", "name: n_copies, type: i64, role: amount", "2.0.0"),
    ],
    ids=["documentation", "additive", "break"],
)  # fmt: skip
def test_a_release_is_refused_below_the_version_that_its_changes_demand(
    checkout: Path, old: str, new: str, lowest: str | None
) -> None:
    assert release().exit_code == 0
    change(checkout, old, new)
    result = release()
    if lowest is None:
        assert result.exit_code == 0  # a baseline has no documentation
        return
    assert result.exit_code == 1
    assert f"the changes since 1.2.0 demand version {lowest}, the spec is at 1.2.0" in result.output
    assert [path.name for path in (checkout / "abi" / "baselines").iterdir()] == ["1.2.0.yaml"]
    change(checkout, "version: 1.2.0", f"version: {lowest}")
    result = release()
    assert (result.exit_code, result.output) == (0, f"abi/baselines/{lowest}.yaml written.\n")


def test_a_break_that_is_waived_does_not_raise_the_version(checkout: Path) -> None:
    assert release().exit_code == 0
    change(checkout, "default: 6.5", "default: 7.0")
    assert release().exit_code == 1
    (checkout / "ci").mkdir()
    (checkout / "ci" / "abi-waivers.yaml").write_text(
        "waivers:\n  - {rule: default-changed, item: struct settings.opening, reason: Nobody opens so early., owner: me, expires: 2999-01-01}\n",
        encoding="utf-8",
    )
    result = release()
    assert result.exit_code == 0, result.output


def test_a_version_below_the_released_one_is_refused(checkout: Path) -> None:
    assert release().exit_code == 0
    change(checkout, "version: 1.2.0", "version: 1.1.0")
    result = release()
    assert (result.exit_code, result.output) == (1, "Error: the spec is at 1.1.0, but 1.2.0 was released already.\n")


def test_a_spec_with_mistakes_is_not_released(checkout: Path) -> None:
    change(checkout, "type: i32, role: amount", "type: i33, role: amount")
    result = release()
    assert result.exit_code == 2
    assert "SB020" in result.output
    assert not (checkout / "abi" / "baselines").exists()
    shutil.rmtree(checkout / "abi")
    assert release().exit_code == 2
