"""Thousands of generations take no more memory than hundreds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from specbind.harness.oracle.cycle import CYCLE, NEXT, run
from specbind.harness.strategies import ALL

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

NAMES = (
    "ngram-map-k", "ngram-mod", "ngram-cache", "draft-simple", "draft-mtp, three heads", "draft-mtp, shared memory", "draft-mtp, hybrid",
    "draft-eagle3", "draft-dflash", "draft-dspark",
)  # fmt: skip


def resident() -> int:
    """Bytes of this process in memory."""
    import resource

    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.parametrize("name", NAMES)
def test_memory_is_flat_over_two_thousand_generations(binding: Any, models: dict[str, Path], name: str) -> None:
    """Prompts of different lengths on one session, many of which share a prefix with the one before."""
    case = ALL[name]
    with binding.Session(**case.options(models)) as session:

        def generate(i: int) -> None:
            prompt = run(NEXT, CYCLE[i % 5], 8 + i % 17)
            tokens = [piece.token for piece in session.generate(prompt, n_predict=6)]
            assert tokens[-1] == run(NEXT, NEXT[prompt[-1]], 6)[-1]

        for i in range(400):
            generate(i)
        before = resident()
        for i in range(400, 2400):
            generate(i)
        assert resident() - before < 1 << 20, f"{(resident() - before) / 2000:.0f} bytes per generation"


def test_opening_and_closing_gives_everything_back(binding: Any, models: dict[str, Path]) -> None:
    case = ALL["draft-simple"]

    def once() -> None:
        with binding.Session(**case.options(models)) as session:
            list(session.generate([5, 6, 7], n_predict=4))

    for _ in range(60):
        once()
    before = resident()
    for _ in range(200):
        once()
    assert resident() - before < 2 << 20, f"{(resident() - before) / 200:.0f} bytes per session"
