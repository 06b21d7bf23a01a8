"""The shared cases, through all three layers of the Python binding."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_every_shared_case_gives_what_it_says(
    run_program: Callable[..., str], check_cases: Callable[[Callable[[str], str]], None]
) -> None:
    runner = str(Path(__file__).with_name("runner.py"))
    paths = {"PYTHONPATH": str(ROOT / "bindings_out" / "python" / "src")}
    check_cases(lambda cases: run_program([sys.executable, runner], ROOT, env=paths, stdin=cases))
