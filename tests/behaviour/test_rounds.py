"""Tokens are the target's own, and drafted and accepted are what arithmetic says, through all three layers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from specbind.harness.strategies import ALL, OWN_CONTEXTS, PROMPT, Case

CASES = pytest.mark.parametrize("case", ALL.values(), ids=ALL.keys())


def run_loop(spec: Any, n_seq: int) -> list[list[int]]:
    out: list[list[int]] = [[] for _ in range(n_seq)]
    while spec.decode() == 0:
        for seq in range(n_seq):
            out[seq] += spec.accepted(seq)
    return out


@CASES
def test_the_session_emits_the_oracles_tokens_and_counts(binding: Any, models: dict[str, Path], case: Case) -> None:
    expected = case.expected()
    with binding.Session(**case.options(models)) as session:
        tokens = []
        for piece in session.generate(PROMPT, n_predict=case.n_predict):
            tokens.append(piece.token)
        result = session.result
        stats = session.stats(strategy=case.strategy)
    assert (result.n_drafted, result.n_accepted, result.n_emitted) == (expected.drafted, expected.accepted, len(expected.tokens))
    assert (stats.n_drafted, stats.n_accepted) == (expected.drafted, expected.accepted)
    assert stats.n_drafted > 0, f"{case.strategy} drafted nothing"
    assert tokens[-1] == expected.tokens[-1]


@CASES
@pytest.mark.parametrize("n_seq", [1, 4, 16])
def test_the_loop_emits_the_oracles_tokens_with_equal_acceptance(binding: Any, models: dict[str, Path], case: Case, n_seq: int) -> None:
    expected = case.expected()
    with binding.Session(**case.options(models), n_seq_max=n_seq, n_batch=128, n_ubatch=128) as session:
        spec = session.speculative
        spec.set_limits(n_predict=case.n_predict)
        spec.prompt(PROMPT * n_seq, [s for s in range(n_seq) for _ in PROMPT])
        assert run_loop(spec, n_seq) == [expected.tokens] * n_seq
        for seq in range(n_seq):
            stats = spec.stats(seq)
            if n_seq == 1 or not case.shares_pool:
                assert (stats.n_drafted, stats.n_accepted) == (expected.drafted, expected.accepted)
            assert stats.n_emitted == case.n_predict
        assert spec.stats(strategy=case.strategy).n_drafted == spec.stats().n_drafted > 0


@CASES
def test_a_long_prompt_in_small_chunks_gives_the_same_rounds(binding: Any, models: dict[str, Path], case: Case) -> None:
    from specbind.harness.oracle.cycle import CYCLE, NEXT, run

    prompt = run(NEXT, CYCLE[3], 130)
    expected = case.expected(prompt, n_predict=40)
    with binding.Session(**case.options(models), n_batch=16, n_ubatch=16) as session:
        spec = session.speculative
        spec.set_limits(n_predict=40)
        spec.prompt(prompt)
        assert run_loop(spec, 1) == [expected.tokens]
        assert (spec.stats().n_drafted, spec.stats().n_accepted) == (expected.drafted, expected.accepted)


@CASES
def test_off_is_plain_decoding(binding: Any, models: dict[str, Path], case: Case) -> None:
    with binding.Session(**{**case.options(models), "strategies": "none", "model_draft": None}) as session:
        pieces = list(session.generate(PROMPT, n_predict=20))
        assert [p.n_tokens_draft for p in pieces] == [0] * len(pieces)
        assert session.result.n_drafted == 0
        spec = session.speculative
        assert (spec.stats().n_rounds, spec.stats().n_emitted) == (20, 20)


@CASES
def test_a_draft_limit_of_0_drafts_nothing_and_changes_no_token(binding: Any, models: dict[str, Path], case: Case) -> None:
    with binding.Session(**case.options(models)) as session:
        spec = session.speculative
        spec.set_limits(n_draft_max=0, n_predict=20)
        spec.prompt(PROMPT)
        assert run_loop(spec, 1) == [case.expected(n_predict=20).tokens]
        assert spec.stats().n_drafted == 0


@pytest.mark.parametrize("case", OWN_CONTEXTS.values(), ids=OWN_CONTEXTS.keys())
@pytest.mark.parametrize("n_seq", [1, 4])
def test_contexts_of_the_callers_own_give_the_same_rounds(case: Case, n_seq: int, own_loop: Callable[..., Any]) -> None:
    """Counts do not depend on how a memory takes tokens back."""
    expected = case.expected()
    with own_loop(case, n_seq_max=n_seq, n_ctx=512 * n_seq) as own:
        spec = own.speculative
        spec.set_limits(n_predict=case.n_predict)
        spec.prompt(PROMPT * n_seq, [s for s in range(n_seq) for _ in PROMPT])
        assert run_loop(spec, n_seq) == [expected.tokens] * n_seq
        for seq in range(n_seq):
            assert (spec.stats(seq).n_drafted, spec.stats(seq).n_accepted) == (expected.drafted, expected.accepted)


@CASES
def test_the_primitives_draft_and_accept_the_same(case: Case, llama: Any, own_loop: Callable[..., Any]) -> None:
    expected = case.expected()
    n_max = max((d for d, _ in expected.rounds), default=0)
    with own_loop(case, n_rs_seq=n_max) as own:
        spec, target = own.speculative, own.target
        prompt, answer = list(PROMPT), []
        llama.decode(target, prompt[:-1], 0)
        spec.process(prompt[:-1], pos=list(range(len(prompt) - 1)))
        spec.begin(0, prompt[:-1])
        last, pos = prompt[-1], len(prompt) - 1
        while len(answer) < case.n_predict:
            spec.draft_request(0, pos, last, min(n_max, case.n_predict - len(answer) - 1))
            spec.draft()
            draft = spec.get_draft(0)
            batch = [last, *draft]
            llama.decode(target, batch, pos)
            spec.process(batch, pos=list(range(pos, pos + len(batch))), output=True)
            chosen = [llama.argmax(target, i, 64) for i in range(len(batch))]
            n = 0
            while n < len(draft) and draft[n] == chosen[n]:
                n += 1
            spec.accept(0, n)
            pos += 1 + n
            assert llama.lib.helper_seq_rm(target, 0, pos, -1)
            answer += chosen[: n + 1]
            last = chosen[n]
        assert answer == expected.tokens
        assert (spec.stats().n_drafted, spec.stats().n_accepted) == (expected.drafted, expected.accepted)
