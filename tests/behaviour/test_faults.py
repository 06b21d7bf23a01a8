"""Every known fault has its tests: faults.yaml names them, and here they are looked up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

TESTS = Path(__file__).resolve().parents[1]


def test_every_fault_has_tests_that_exist() -> None:
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "behaviour", "emit/test_enforced.py"],
        cwd=TESTS, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    ids = [line.removeprefix("tests/") for line in collected if "::" in line]
    faults = [row for rows in yaml.safe_load((TESTS / "behaviour" / "faults.yaml").read_text(encoding="utf-8")).values() for row in rows]
    assert all(row["tests"] for row in faults)
    missing = [(row["fault"], start) for row in faults for start in row["tests"] if not any(i.startswith(start) for i in ids)]
    assert missing == []
