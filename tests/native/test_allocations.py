"""A round allocates nothing in this library's own code; what is left is llama.cpp's."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from specbind.harness.decode import DecodeProgram, Generation, Symbols
from specbind.harness.oracle.cycle import NEXT, VOCABULARY, run
from specbind.harness.strategies import ALL, PROMPT, Case

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the counter is preloaded by glibc's loader")


@pytest.fixture(scope="module")
def program(build: Any, tmp_path_factory: pytest.TempPathFactory) -> DecodeProgram:
    return DecodeProgram(build, tmp_path_factory.mktemp("decode"))


@pytest.fixture(scope="module")
def symbols(build: Any) -> Symbols:
    return Symbols(build.library)


def generation(models: dict[str, Path], case: Case) -> Generation:
    draft = models[case.draft] if case.draft else None
    return Generation(models[case.target], draft, case.strategy, case.params, VOCABULARY.decode(PROMPT).decode(), 200)


@pytest.mark.parametrize("case", ALL.values(), ids=ALL.keys())
def test_a_round_allocates_nothing_of_our_own(program: DecodeProgram, symbols: Symbols, models: dict[str, Path], case: Case) -> None:
    """Twice as many tokens must not allocate once more in a function of this library."""
    g = generation(models, case)
    outcome = program.run("loop", g)
    assert list(outcome.tokens) == run(NEXT, NEXT[PROMPT[-1]], 200)
    short, long = (program.allocations("loop", n, stacks=True).stacks for n in (g, g.longer()))
    long.subtract(short)
    grown = {symbols.owner(stack): n for stack, n in long.items() if n > 0}
    ours = {name: n for name, n in grown.items() if name.startswith("spb::")}
    assert ours == {}
    assert long.total() > 0 or case.strategy.startswith("ngram"), "the counter saw nothing of llama.cpp's drafting code either"


def test_the_counter_sees_what_the_library_allocates(program: DecodeProgram, symbols: Symbols, models: dict[str, Path]) -> None:
    """Opening a session allocates, in functions with known names."""
    stacks = program.allocations("loop", generation(models, ALL["draft-simple"]), stacks=True).stacks
    assert any(symbols.owner(stack).startswith("spb::open_session") for stack in stacks)
