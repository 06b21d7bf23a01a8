"""Where a generation ends: end of generation, limits, a full context, stop strings, cancel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from specbind.harness.oracle.cycle import CYCLE, EOS, EOS_AFTER, NEXT, VOCABULARY, run
from specbind.harness.strategies import ALL, PROMPT, Case

CASES = pytest.mark.parametrize("case", ALL.values(), ids=ALL.keys())
SIMPLE = ALL["draft-simple"]


def all_rounds(spec: Any) -> list[int]:
    out: list[int] = []
    while spec.decode() == 0:
        out += spec.accepted()
    return out


def test_an_end_of_generation_token_inside_an_accepted_run_cuts_it(binding: Any, models: dict[str, Path]) -> None:
    options = {**SIMPLE.options(models), "model": models["target-llama-eos"], "model_draft": str(models["draft-llama-eos"])}
    start = CYCLE[(CYCLE.index(EOS_AFTER) - 30) % len(CYCLE)]
    prompt = run(NEXT, start, 10)
    expected = run(NEXT, NEXT[prompt[-1]], 21)
    assert expected[-1] == EOS_AFTER
    with binding.Session(**options) as session:
        spec = session.speculative
        spec.prompt(prompt)
        assert all_rounds(spec) == [*expected, EOS]
        assert spec.decode().name == "END"
        info = spec.info()
        assert (info.finish.name, info.token_last, info.n_tokens) == ("EOG", EOS, len(prompt) + 22)
        stats = spec.stats()
        assert stats.n_emitted == 22
        assert stats.n_accepted == stats.n_emitted - stats.n_rounds + 1, "the end itself was drafted and accepted"


@CASES
@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_the_token_limit_is_kept_exactly(binding: Any, models: dict[str, Path], case: Case, n: int) -> None:
    with binding.Session(**case.options(models)) as session:
        spec = session.speculative
        spec.set_limits(n_predict=n)
        spec.prompt(PROMPT)
        assert all_rounds(spec) == case.expected(n_predict=n).tokens
        assert spec.info().finish.name == "LIMIT"
        assert spec.decode().name == "END"
        spec.set_limits(n_predict=3)
        assert len(all_rounds(spec)) == 3


@CASES
def test_a_full_context_is_a_status(binding: Any, models: dict[str, Path], case: Case) -> None:
    with binding.Session(**{**case.options(models), "n_ctx": 256}) as session:
        spec = session.speculative
        prompt = run(NEXT, CYCLE[0], 200)
        spec.prompt(prompt)
        tokens = all_rounds(spec)
        assert tokens == run(NEXT, NEXT[prompt[-1]], 57)
        assert spec.decode().name == "CONTEXT_FULL"
        assert spec.info().finish.name == "CONTEXT_FULL"
        assert spec.info().n_kv == 256
        assert spec.prompt([5] * 10).name == "CONTEXT_FULL"
        assert spec.info().n_tokens == 257
        spec.clear()
        assert spec.prompt([5] * 257).name == "CONTEXT_FULL"
        assert spec.info().state.name == "NEEDS_BEGIN"
        spec.prompt(PROMPT)
        spec.set_limits(n_predict=5)
        assert all_rounds(spec) == case.expected(n_predict=5).tokens


@CASES
def test_cancel_leaves_the_sequence_as_it_was(binding: Any, models: dict[str, Path], case: Case) -> None:
    with binding.Session(**case.options(models), n_batch=16, n_ubatch=16) as session:
        spec = session.speculative
        spec.cancel()
        assert spec.prompt(PROMPT).name == "CANCELLED"
        assert spec.info().state.name == "NEEDS_BEGIN"
        spec.set_limits(n_predict=60)
        assert spec.prompt(PROMPT).name == "OK"
        tokens: list[int] = []
        for i in range(200):
            if i % 3 == 2:
                spec.cancel()
                assert spec.decode().name == "CANCELLED"
                assert spec.accepted() == []
            if spec.decode() != 0:
                break
            tokens += spec.accepted()
        assert tokens == case.expected(n_predict=60).tokens


TEXT = VOCABULARY.decode(run(NEXT, NEXT[PROMPT[-1]], 60)).decode("utf-8", "replace")


def answer(session: Any, stops: list[str], n: int = 50) -> str:
    return "".join(p.text for p in session.generate(PROMPT, n_predict=n, stops=stops))


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_a_stop_string_ends_the_text_wherever_it_lies_in_a_round(binding: Any, models: dict[str, Path], width: int) -> None:
    with binding.Session(**SIMPLE.options(models)) as session:
        for at in range(0, 40):
            stop = TEXT[at : at + width]
            if "�" in stop or not stop:
                continue
            first = TEXT.index(stop)
            assert answer(session, ["never", stop]) == TEXT[:first]
            result = session.result
            assert (result.finish.name, result.stop_index) == ("STOP", 1)
            # what the sequence holds ends with the stop string: the next request can build on all of it
            held = session.speculative.info()
            assert held.n_tokens == len(PROMPT) + result.n_emitted


def test_of_several_stop_strings_the_first_in_the_text_counts(binding: Any, models: dict[str, Path]) -> None:
    with binding.Session(**SIMPLE.options(models)) as session:
        assert answer(session, [TEXT[9:11], TEXT[5:8]]) == TEXT[:5]
        assert session.result.stop_index == 1


def test_a_stop_string_equal_to_the_whole_answer_leaves_nothing(binding: Any, models: dict[str, Path]) -> None:
    with binding.Session(**SIMPLE.options(models)) as session:
        assert answer(session, [TEXT[:8]]) == ""
        assert session.result.finish.name == "STOP"


def test_the_beginning_of_a_stop_string_is_released_at_the_end(binding: Any, models: dict[str, Path]) -> None:
    with binding.Session(**SIMPLE.options(models)) as session:
        whole = answer(session, [], 20)
        assert answer(session, [whole[-2:] + "@"], 20) == whole


def test_an_empty_stop_string_is_refused(binding: Any, models: dict[str, Path]) -> None:
    with (
        binding.Session(**SIMPLE.options(models)) as session,
        pytest.raises(binding.InvalidArgumentError, match=r"gen_params.stops\[1\] is empty"),
    ):
        session.generate(PROMPT, stops=["x", ""])


def test_pieces_are_whole_characters(binding: Any, models: dict[str, Path]) -> None:
    """The cycle has characters of two to four bytes, one token a byte, so that every round cuts some."""
    with binding.Session(**SIMPLE.options(models)) as session:
        start = PROMPT
        for _ in range(8):
            pieces = list(session.generate(start, n_predict=60))
            text = "".join(p.text for p in pieces)
            assert sum(p.n_tokens for p in pieces) == 60
            # the prompt may end, and the limit may fall, inside a character: nowhere else is one broken
            assert "�" not in text.strip("�")
            assert text.strip("�") in VOCABULARY.decode(run(NEXT, start[-1], 70)).decode("utf-8", "ignore")
            start = run(NEXT, start[3], 24)
    assert "é" in TEXT or "€" in TEXT or "😀" in TEXT


def test_leaving_the_iterator_early_leaves_the_session_usable(binding: Any, models: dict[str, Path]) -> None:
    with binding.Session(**SIMPLE.options(models)) as session:
        whole = answer(session, [])
        for n in (1, 2, 5):
            pieces = session.generate(PROMPT, n_predict=50)
            for _ in range(n):
                next(pieces)
            pieces.close()
            assert answer(session, []) == whole
