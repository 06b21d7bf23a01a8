"""`specbind diff` as a CI job meets it: exit codes, releases, waivers, files. What reports look like is tested with the reports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from specbind.cli import main
from specbind.diff.baseline import dump
from specbind.diff.finding import Comparison
from specbind.spec.load import load

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = Path(__file__).with_name("fixtures")
SAMPLE = ROOT / "tests" / "spec" / "sample.yaml"


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Comparison, str, bool]]:
    """What was handed to the reports."""
    calls: list[tuple[Comparison, str, bool]] = []

    def render(comparison: Comparison, form: str, *, color: bool) -> str:
        calls.append((comparison, form, color))
        return f"{form} report\n"

    monkeypatch.setattr("specbind.report.render", render)
    return calls


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the sample as its spec, and no release."""
    (tmp_path / "abi" / "baselines").mkdir(parents=True)
    (tmp_path / "ci").mkdir()
    (tmp_path / "abi" / "llama_speculative.yaml").write_bytes(SAMPLE.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def diff(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["diff", *map(str, arguments)])


def pair(rule: str) -> tuple[Path, Path]:
    return FIXTURES / rule / "old.yaml", FIXTURES / rule / "new.yaml"


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("documentation-changed", 0),
        ("function-added", 0),
        ("parameter-renamed", 3),
        ("parameter-added", 4),
        ("parameters-swapped", 5),
    ],
)
def test_the_exit_code_is_that_of_the_worst_finding(shown: list[Any], rule: str, code: int) -> None:
    result = diff(*pair(rule))
    assert (result.exit_code, result.output) == (code, "text report\n")
    assert [finding.rule for finding in shown[0][0].findings] == [rule]


def test_the_same_file_on_both_sides_is_nothing(shown: list[Any]) -> None:
    assert diff(SAMPLE, SAMPLE).exit_code == 0
    assert shown[0][0].findings == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give OLD and NEW, or --against-release"),
        ((SAMPLE,), "give OLD and NEW, or --against-release"),
        ((SAMPLE, SAMPLE, "--against-release"), "--against-release is the OLD side: give NEW only"),
        ((SAMPLE, "nothing.yaml"), "nothing.yaml: there is no such file"),
        ((SAMPLE, SAMPLE, "--format", "xml"), "'xml' is not one of 'text', 'json', 'markdown', 'sarif', 'junit'"),
    ],
)
def test_wrong_arguments_end_with_2_and_say_what_is_right(arguments: tuple[Any, ...], message: str) -> None:
    result = diff(*arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_a_side_with_mistakes_ends_with_2_and_shows_them_all(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(
        SAMPLE.read_text(encoding="utf-8").replace("type: i32, role: amount", "type: i33, role: amount"), encoding="utf-8"
    )
    result = diff(SAMPLE, path)
    assert result.exit_code == 2
    assert f"{path}:" in result.output and "SB020" in result.output and "Traceback" not in result.output


def test_before_the_first_release_nothing_can_break_and_the_command_says_so(shown: list[Any], checkout: Path) -> None:
    result = diff("--against-release", "--format", "json")
    assert result.exit_code == 0
    assert "There is no release yet: abi/baselines holds no baseline" in result.stderr
    assert result.stdout == "json report\n"
    assert (shown[0][0].old.label, shown[0][0].new.label, shown[0][0].findings) == (
        "no release yet",
        "abi/llama_speculative.yaml",
        (),
    )


def test_the_newest_release_is_what_the_spec_is_compared_with(shown: list[Any], checkout: Path) -> None:
    text = dump(load(SAMPLE))
    (checkout / "abi" / "baselines" / "0.2.0.yaml").write_text(text.replace("value: -1}", "value: -9}"), encoding="utf-8")
    (checkout / "abi" / "baselines" / "0.10.0.yaml").write_text(text, encoding="utf-8")
    assert diff("--against-release").exit_code == 0
    assert shown[0][0].old.label == "abi/baselines/0.10.0.yaml"


def test_waivers_lower_the_code_and_faults_of_theirs_raise_it(shown: list[Any], checkout: Path) -> None:
    entry = "  - {{rule: {}, item: struct order.copies, reason: Nobody uses it., owner: me, expires: {}}}\n"

    def waivers(*entries: tuple[str, str]) -> int:
        path = checkout / "waivers.yaml"
        path.write_text("waivers:\n" + "".join(entry.format(*each) for each in entries), encoding="utf-8")
        return diff(*pair("field-sign-changed"), "--waivers", path).exit_code

    assert diff(*pair("field-sign-changed")).exit_code == 5
    assert waivers(("field-sign-changed", "2999-01-01")) == 0
    assert waivers(("field-sign-changed", "2020-01-01")) == 5
    assert waivers(("field-sign-changed", "2999-01-01"), ("field-removed", "2999-01-01")) == 1
    assert len(shown[-1][0].errors) == 1
    assert waivers(("field-sign", "2999-01-01")) == 2


def test_the_waivers_of_the_checkout_count_against_a_release_only(shown: list[Any], checkout: Path) -> None:
    released = dump(load(SAMPLE)).replace("default: 6.5", "default: 6.0")
    (checkout / "abi" / "baselines" / "0.3.0.yaml").write_text(released, encoding="utf-8")
    assert diff("--against-release").exit_code == 5
    (checkout / "ci" / "abi-waivers.yaml").write_text(
        "waivers:\n  - {rule: default-changed, item: struct settings.opening, reason: Later., owner: me, expires: 2999-01-01}\n",
        encoding="utf-8",
    )
    assert diff("--against-release").exit_code == 0
    assert diff("abi/baselines/0.3.0.yaml", "abi/llama_speculative.yaml").exit_code == 5


def test_the_report_goes_to_a_file_whole(shown: list[Any], tmp_path: Path) -> None:
    result = diff(*pair("parameters-swapped"), "--format", "sarif", "-o", tmp_path / "out" / "gate.sarif")
    assert (result.exit_code, result.output) == (5, "")
    assert (tmp_path / "out" / "gate.sarif").read_text(encoding="utf-8") == "sarif report\n"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["gate.sarif"]
    assert shown[0][1:] == ("sarif", False)


def test_two_specs_are_compared_in_three_tenths_of_a_second(tmp_path: Path) -> None:
    """From the shell, with the ABI itself and one change: processor time, and the best of several, for the machine may be busy."""
    old = ROOT / "abi" / "llama_speculative.yaml"
    new = tmp_path / "new.yaml"
    new.write_text(old.read_text(encoding="utf-8").replace("default: 3, min: 0", "default: 4, min: 0", 1), encoding="utf-8")
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / "pyc"), "SPECBIND_CACHE": str(tmp_path / "cache")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", "from specbind.cli import main; main()", "diff", old, new]
    took: list[float] = []
    while len(took) < 30 and min(took, default=1.0) >= 0.3:
        start = os.times()
        done = subprocess.run(command, env=env, capture_output=True, check=False)
        end = os.times()
        took.append(end.children_user + end.children_system - start.children_user - start.children_system)
        assert done.returncode == 5, done.stderr
    assert min(took) < 0.3, took
