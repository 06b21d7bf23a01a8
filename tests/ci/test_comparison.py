"""The script that compares other checkers: what it makes of their answers. The tools themselves are not needed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def comparison() -> Any:
    spec = importlib.util.spec_from_file_location("comparison", ROOT / "ci" / "comparison.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["comparison"] = module
    spec.loader.exec_module(module)
    return module


def pair(comparison: Any, name: str, work: Path) -> Any:
    return comparison.make_pair(ROOT / "tests" / "diff" / "fixtures" / name, work)


def test_a_pair_becomes_libraries_and_knows_whether_c_can_tell(comparison: Any, tmp_path: Path) -> None:
    inserted = pair(comparison, "field-inserted", tmp_path)
    assert inserted.old.library.is_file() and inserted.new.library.is_file()
    assert (inserted.breaks, inserted.in_c) == (True, True)
    narrowed = pair(comparison, "range-narrowed", tmp_path)
    assert (narrowed.breaks, narrowed.in_c) == (True, False)


def test_answers_are_counted_as_what_they_are(comparison: Any, tmp_path: Path) -> None:
    broken, fine = pair(comparison, "field-inserted", tmp_path), pair(comparison, "function-added", tmp_path)
    assert [comparison.outcome(broken, alarm) for alarm in (True, False, None)] == ["caught", "**missed**", "failed"]
    assert [comparison.outcome(fine, alarm) for alarm in (True, False, None)] == ["**false alarm**", "quiet", "failed"]
    tool = comparison.Tool("a tool", "specbind", "", lambda pair: True, {broken.name: False, fine.name: True}, [1.0, 3.0])
    text = comparison.page([tool], [], [broken, fine])
    assert "| a tool | 0.1.0 | 0 / 1 | 0 | 1 | 0 | 2.00 s |" in text
    assert "| field-inserted | binary break | **missed** |" in text
    assert "@" not in text.replace("@owner", "")
