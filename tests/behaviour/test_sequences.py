"""Committing part of a round, truncating, copying, shifting, joining and leaving: what follows is the oracle's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from specbind.harness.oracle.cycle import CYCLE, NEXT, run
from specbind.harness.strategies import ALL, OWN_CONTEXTS, PROMPT, Case

KINDS = ALL | OWN_CONTEXTS
CASES = pytest.mark.parametrize("case", ALL.values(), ids=ALL.keys())
LOOPS = pytest.mark.parametrize("case", KINDS.values(), ids=KINDS.keys())


@pytest.fixture
def session(binding: Any, models: dict[str, Path], case: Case, own_loop: Callable[..., Any]) -> Iterator[Any]:
    if case.contexts:
        with own_loop(case, n_seq_max=3, n_ctx=512 if case.contexts.get("kv_unified") else 3 * 512) as opened:
            yield opened
    else:
        with binding.Session(**case.options(models), n_seq_max=3, n_batch=64, n_ubatch=64) as opened:
            yield opened


def follow(last: int, n: int) -> list[int]:
    """The next `n` tokens of the cycle."""
    return run(NEXT, NEXT[last], n)


def rounds(spec: Any, n: int, seq: int = 0) -> list[int]:
    """Tokens of rounds until there are `n`."""
    out: list[int] = []
    while len(out) < n:
        assert spec.decode() == 0
        out += spec.accepted(seq)
    return out


@LOOPS
def test_every_part_of_a_round_can_be_kept(session: Any, case: Case) -> None:
    spec = session.speculative
    spec.prompt(PROMPT)
    have = list(PROMPT)
    seen = set()
    keep = 1
    while len(have) < 330:
        assert spec.decode() == 0
        accepted = spec.accepted()
        n = min(keep, len(accepted))
        spec.commit(n)
        assert accepted == follow(have[-1], len(accepted))
        have += accepted[:n]
        info = spec.info()
        assert (info.n_tokens, info.token_last, info.n_open) == (len(have), have[-1], 0)
        seen.add((n, len(accepted)))
        keep = keep % 9 + 1
    assert any(n < m for n, m in seen), "no round was committed in part"
    assert have == run(NEXT, PROMPT[0], len(have))


@LOOPS
def test_a_sequence_can_be_cut_to_every_length(session: Any, case: Case) -> None:
    spec = session.speculative
    spec.prompt(PROMPT)
    rounds(spec, 70)
    n = spec.info().n_open
    if n:
        spec.commit(n)
    whole = run(NEXT, PROMPT[0], spec.info().n_tokens)
    for length in range(len(whole), 1, -7):
        spec.truncate(length)
        assert (spec.info().n_tokens, spec.info().token_last) == (length, whole[length - 1])
        assert rounds(spec, 3)[:3] == follow(whole[length - 1], 3)
        spec.commit(spec.info().n_open)
    spec.truncate(0)
    assert spec.info().state.name == "NEEDS_BEGIN"


@LOOPS
def test_a_copy_goes_on_by_itself(session: Any, case: Case) -> None:
    spec = session.speculative
    spec.prompt(PROMPT)
    rounds(spec, 30)
    spec.commit(spec.info().n_open)
    spec.copy(0, 2)
    assert spec.info(2).n_tokens == spec.info(0).n_tokens
    last = spec.info(0).token_last
    left: dict[int, list[int]] = {0: [], 2: []}
    while min(map(len, left.values())) < 40:
        assert spec.decode() == 0
        for seq in left:
            left[seq] += spec.accepted(seq)
    for seq, tokens in left.items():
        assert tokens == follow(last, len(tokens)), f"sequence {seq}"


@LOOPS
def test_sequences_join_and_leave(session: Any, case: Case) -> None:
    spec = session.speculative
    spec.prompt(PROMPT)
    have = {0: list(PROMPT)}
    for step in range(30):
        if step == 5:
            spec.prompt(run(NEXT, CYCLE[9], 40), 1)
            have[1] = run(NEXT, CYCLE[9], 40)
        if step == 12:
            spec.clear(0)
            del have[0]
        if step == 18:
            spec.prompt(run(NEXT, CYCLE[30], 7), 0)
            have[0] = run(NEXT, CYCLE[30], 7)
        assert spec.decode() == 0
        for seq, tokens in have.items():
            accepted = spec.accepted(seq)
            assert accepted == follow(tokens[-1], len(accepted)) and accepted
            tokens += accepted
        assert all(spec.accepted(seq) == [] for seq in range(3) if seq not in have)


@CASES
def test_prompts_one_after_the_other_share_what_they_can(session: Any, case: Case) -> None:
    prompts = [run(NEXT, CYCLE[0], 50), run(NEXT, CYCLE[0], 20), run(NEXT, CYCLE[0], 60), run(NEXT, CYCLE[20], 33), run(NEXT, CYCLE[20], 2)]
    reused = []
    for prompt in prompts:
        tokens = [p.token for p in session.generate(prompt, n_predict=24)]
        result = session.result
        reused.append(result.n_reused)
        assert result.n_emitted == 24
        assert tokens[-1] == follow(prompt[-1], 24)[-1]
    assert reused == [0, 19, 44, 0, 1]


@LOOPS
def test_a_shift_keeps_what_follows_or_is_refused(binding: Any, session: Any, case: Case) -> None:
    spec = session.speculative
    spec.prompt(run(NEXT, CYCLE[0], 40))
    try:
        spec.shift(20, -10)
    except binding.UnsupportedError as error:
        assert case.strategy in ("draft-mtp", "draft-eagle3", "draft-dflash", "draft-dspark") or "hybrid" in case.target or "swa_full" in case.contexts
        assert "clear the sequence" in str(error) or "cannot shift" in str(error)
        assert rounds(spec, 5)[:5] == follow(run(NEXT, CYCLE[0], 40)[-1], 5)
        return
    assert spec.info().n_tokens == 30
    last = run(NEXT, CYCLE[0], 40)[-1]
    tokens = rounds(spec, 30)
    assert tokens == follow(last, len(tokens))


@pytest.mark.parametrize("name", ["draft-mtp, hybrid", "draft-simple, hybrid"])
@pytest.mark.parametrize("order", list(permutations(range(4))), ids=lambda order: "".join(map(str, order)))
def test_drafts_of_different_lengths_leave_the_states_of_others_alone(
    binding: Any, models: dict[str, Path], name: str, order: tuple[int, ...]
) -> None:
    """llama.cpp keeps the states in the order in which sequences came, and moves them when it evaluates neighbours together."""
    case = ALL[name]
    with binding.Session(**case.options(models), n_seq_max=4) as session:
        spec = session.speculative
        limits = (8, 8, 5, 5)
        prompts = {seq: run(NEXT, CYCLE[7 * seq], 20 + seq) for seq in order}
        for seq, prompt in prompts.items():
            spec.set_limits(seq=seq, n_draft_max=limits[seq], n_predict=60)
            spec.prompt(prompt, seq)
        left: dict[int, list[int]] = {seq: [] for seq in order}
        while spec.decode() == 0:
            for seq, tokens in left.items():
                tokens += spec.accepted(seq)
        for seq, tokens in left.items():
            expected = case.expected(prompts[seq], n_predict=60, n_draft_limit=limits[seq])
            assert tokens == expected.tokens, f"sequence {seq}"
            assert (spec.stats(seq).n_drafted, spec.stats(seq).n_accepted) == (expected.drafted, expected.accepted)
