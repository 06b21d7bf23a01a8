"""Sessions as Python has them: streaming, cancelling, callbacks, errors, and what remains when they are gone."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from specbind.harness.oracle.cycle import CYCLE, NEXT, VOCABULARY, run

PROMPT = run(NEXT, CYCLE[0], 24)
ANSWER = VOCABULARY.decode(run(NEXT, NEXT[PROMPT[-1]], 64)).decode()
SMALL = {"n_ctx": 256, "n_batch": 64, "n_ubatch": 64, "n_threads": 1}

Open = Callable[..., Any]


@pytest.fixture
def open_(binding: Any, models: dict[str, Path]) -> Open:
    """`open_(**options)`: a session that drafts."""

    def session(**options: Any) -> Any:
        given = {"model_draft": str(models["draft-llama"]), "strategies": "draft-simple", "n_draft_max": 8, **SMALL, **options}
        return binding.Session(given.pop("model", models["target-llama"]), **given)

    return session


def whole(session: Any, n_predict: int = 64) -> str:
    return "".join(piece.text for piece in session.generate(PROMPT, n_predict=n_predict))


def test_the_first_piece_is_there_before_the_second_is_decoded(open_: Open) -> None:
    with open_(strategies="none", model_draft=None) as session:
        pieces = session.generate(PROMPT, n_predict=64)
        next(pieces)
        first = session.stats(0).n_rounds
        next(pieces)
        assert (first, session.stats(0).n_rounds) == (1, 2)


def test_leaving_the_iterator_early_leaves_the_session_ready(open_: Open) -> None:
    with open_() as session:
        for _ in session.generate(PROMPT, n_predict=64):
            break
        assert whole(session) == ANSWER


def test_cancel_from_another_thread_ends_the_stream_and_the_session_goes_on(binding: Any, open_: Open) -> None:
    with open_() as session:
        text = ""
        for piece in session.generate(PROMPT, n_predict=64):
            text += piece.text
            caller = threading.Thread(target=session.cancel)
            caller.start()
            caller.join()
        assert ANSWER.startswith(text) and len(text) < len(ANSWER)
        assert session.result.finish == binding.Finish.CANCELLED
        assert whole(session) == ANSWER


def test_what_is_drafted_and_accepted_is_a_typed_value(binding: Any, open_: Open) -> None:
    with open_() as session:
        whole(session)
        stats, result = session.stats(0), session.result
        assert isinstance(stats, binding.Stats) and isinstance(result, binding.GenResult)
        assert (stats.n_drafted, stats.n_accepted) == (result.n_drafted, result.n_accepted)
        assert result.acceptance_rate == result.n_accepted / result.n_drafted


def test_closing_twice_does_nothing_and_every_use_after_it_is_an_error(binding: Any, open_: Open) -> None:
    session = open_()
    spec = session.speculative
    pieces = session.generate(PROMPT, n_predict=64)
    next(pieces)
    session.close()
    session.close()
    assert session.closed and spec.closed
    uses: list[Callable[[], object]] = [
        lambda: session.generate(PROMPT), lambda: next(pieces), lambda: session.tokenize("a"), lambda: session.piece(1),
        lambda: session.chat([("user", "a")]), session.cancel, lambda: session.result, lambda: session.handles,
        lambda: session.speculative, session.stats, spec.decode, spec.accepted, spec.save, spec.stats, spec.info, spec.get_draft,
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(binding.ClosedError):
            use()


def test_a_with_block_that_raises_releases_the_session(open_: Open) -> None:
    with pytest.raises(KeyError), open_() as session:
        raise KeyError("inside")
    assert session.closed


def test_an_exception_in_progress_comes_out_and_opening_again_works(open_: Open) -> None:
    def progress(fraction: float) -> None:
        raise LookupError("in progress")

    with pytest.raises(LookupError, match="in progress"):
        open_(progress=progress)
    with open_() as session:
        assert whole(session) == ANSWER


def test_progress_that_says_false_stops_the_loading(binding: Any, open_: Open) -> None:
    with pytest.raises(binding.SpeculativeError, match="progress") as caught:
        open_(progress=lambda fraction: False)
    assert caught.value.status == binding.Status.CANCELLED


def test_an_exception_in_the_log_comes_out_of_the_call_and_harms_nothing(binding: Any, open_: Open) -> None:
    def log(level: Any, line: str) -> None:
        raise LookupError("in the log")

    binding.set_log(log)
    try:
        with pytest.raises(LookupError, match="in the log"):
            open_()
    finally:
        binding.set_log(None)
    with open_() as session:
        assert whole(session) == ANSWER


def test_log_lines_arrive(binding: Any, open_: Open) -> None:
    lines: list[str] = []
    binding.set_log(lambda level, line: lines.append(line))
    try:
        open_().close()
    finally:
        binding.set_log(None)
    assert any("llama" in line for line in lines)


def test_sessions_on_two_threads_do_not_meet(open_: Open) -> None:
    found: list[str] = []

    def work() -> None:
        with open_() as session:
            found.extend(whole(session) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [ANSWER] * 10


def test_arguments_stay_where_they_are_while_garbage_is_collected(open_: Open) -> None:
    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(5):
            session = open_(progress=lambda fraction: bool(gc.collect()) or True)
            text = ""
            for piece in session.generate(list(PROMPT), n_predict=64, stops=["never", "ever"]):
                gc.collect()
                text += piece.text
            assert text == ANSWER
            del session
    finally:
        gc.set_threshold(*threshold)


def test_a_forgotten_session_is_released_when_it_is_collected(open_: Open) -> None:
    session = open_()
    finalizer = session._finalizer
    del session
    gc.collect()
    assert not finalizer.alive


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_thousand_sessions_leave_no_memory_behind(open_: Open) -> None:
    def cycles(n: int) -> int:
        for _ in range(n):
            with open_(n_ctx=32, n_batch=16, n_ubatch=16) as session:
                for _ in session.generate(PROMPT[:4], n_predict=4):
                    pass
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1])

    before = cycles(200)
    assert cycles(1000) - before < 1024  # pages; a byte lost per kilobyte of context would be more
