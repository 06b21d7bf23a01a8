"""The comparison of languages: its arithmetic, and that C and Python run the very same generation."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from specbind.harness.bench_languages import PER_PROCESS, Runner, a_case, build_c, build_python, measure, observe, oracle_case
from specbind.native.errors import NativeError
from specbind.native.progress import Silent

FAKE = """
import sys
times = iter(sys.argv[1:])
for line in sys.stdin:
    if line == "end\\n":
        print("case bench session\\ntext 61\\nseconds", next(times), "\\ndrafted 0 20\\naccepted 0 10\\nend")
"""


def fake(language: str, *seconds: float) -> Runner:
    return Runner(language, (sys.executable, "-c", FAKE, *map(str, seconds)), os.environ)


def test_a_row_is_the_difference_to_c_per_round_without_the_warm_up() -> None:
    case = a_case("target", None, {}, [1], 60, {})
    c, other = measure("oracle", case, [fake("C", 9, 1.0, 1.5, 1.2), fake("X", 9, 2.5, 2.0, 3.0)], 2, Silent())
    assert PER_PROCESS == 4
    assert (c.rounds, c.us_per_round, c.us_over_c, c.tokens_per_second) == (50, 20_000, 0, 60)
    assert (other.us_per_round, other.us_over_c, other.tokens_per_second) == (40_000, 20_000, 30)


def test_a_language_that_generates_something_else_is_not_compared() -> None:
    case = a_case("target", None, {}, [1], 60, {})
    wrong = Runner("X", (sys.executable, "-c", FAKE.replace("text 61", "text 62"), *"1234"), os.environ)
    with pytest.raises(NativeError, match="X gave another text than C"):
        measure("oracle", case, [fake("C", 1, 1, 1, 1), wrong], 1, Silent())


def test_c_and_python_run_the_same_generation(build: Any, environment: dict[str, str], tmp_path: Path) -> None:
    case = oracle_case(tmp_path / "models")
    seen = []
    for language, made in (("C", build_c(build, tmp_path)), ("Python", build_python(build, tmp_path))):
        runner = Runner(language, tuple(made.command), {**environment, **made.env})
        (one,) = observe(runner, case, 1)
        seen.append((one.text, one.drafted, one.accepted))
    assert seen[0] == seen[1]
    assert 0 < seen[0][2][0] < seen[0][1][0]
