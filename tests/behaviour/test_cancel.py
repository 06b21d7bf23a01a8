"""A cancel that arrives in the middle of an evaluation: of the prompt, of a draft, of a verification.

The call comes from inside llama.cpp's own evaluation, at a counted graph node, which is what another thread does at a
moment that nobody can choose.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from specbind.harness.oracle.cycle import CYCLE, NEXT, run

PARAMS = {"strategies": "draft-simple", "n_draft_max": 4}
PROMPT = run(NEXT, CYCLE[0], 60)


class Watched:
    """A loop whose target or draft context is watched."""

    def __init__(self, llama: Any, spec: Any, library: Any) -> None:
        self.llama, self.spec = llama, spec
        ffi = llama.ffi
        address = int(library.ffi.cast("uintptr_t", library.ffi.addressof(library.lib, "llama_speculative_cancel")))
        self.cancel = ffi.cast("int32_t (*)(void *)", address)
        self.handle = ffi.cast("void *", int(library.ffi.cast("uintptr_t", spec._handle)))

    def cancel_at(self, node: int) -> None:
        self.llama.lib.helper_watch(self.cancel, self.handle, node)

    def nodes(self) -> int:
        """Graph nodes that were evaluated since the last `cancel_at`."""
        return int(self.llama.lib.helper_watched())


@pytest.fixture
def watched(binding: Any, models: dict[str, Path], llama: Any) -> Any:
    from llama_speculative._library import default_library

    @contextmanager
    def opened(which: str) -> Iterator[Watched]:
        model, draft_model = llama.model(models["target-llama"]), llama.model(models["draft-llama"])
        target = llama.context(model, watched=which == "target", n_batch=16, n_ubatch=16)
        draft = llama.context(draft_model, watched=which == "draft", n_batch=16, n_ubatch=16, other=target)
        addresses = [int(llama.ffi.cast("uintptr_t", c)) for c in (target, draft)]
        with binding.Speculative(*addresses, **PARAMS) as spec:
            yield Watched(llama, spec, default_library())
        llama.lib.helper_watch(llama.ffi.NULL, llama.ffi.NULL, -1)
        for context in (draft, target):
            llama.lib.llama_free(context)

    return opened


def finish(spec: Any, n: int, last: int) -> None:
    """Whatever happened, the next `n` tokens are the target's own."""
    tokens: list[int] = []
    while len(tokens) < n:
        if spec.decode() == 0:
            tokens += spec.accepted()
    assert tokens == run(NEXT, NEXT[last], len(tokens))


@pytest.mark.parametrize("which", ["target", "draft"])
def test_in_the_prompt(watched: Any, which: str) -> None:
    with watched(which) as w:
        w.cancel_at(1 << 40)
        assert w.spec.prompt(PROMPT) == 0
        whole = w.nodes()
        w.spec.clear()
        for part in (0.1, 0.3, 0.6):
            w.cancel_at(int(part * whole))
            assert w.spec.prompt(PROMPT).name == "CANCELLED"
            assert w.nodes() < whole, "the rest of the prompt was evaluated all the same"
            assert w.spec.info().state.name == "NEEDS_BEGIN"
        w.cancel_at(1 << 40)
        assert w.spec.prompt(PROMPT) == 0
        finish(w.spec, 20, PROMPT[-1])


def test_in_a_draft(watched: Any) -> None:
    with watched("draft") as w:
        assert w.spec.prompt(PROMPT) == 0
        w.cancel_at(3)
        assert w.spec.decode().name == "CANCELLED"
        assert w.spec.accepted() == []
        assert (w.spec.info().n_tokens, w.spec.info().state.name) == (len(PROMPT), "READY")
        assert w.spec.stats().n_rounds == 0
        finish(w.spec, 20, PROMPT[-1])


def test_in_a_verification(watched: Any) -> None:
    """What is being verified is kept; the next call is the one that stops."""
    with watched("target") as w:
        assert w.spec.prompt(PROMPT) == 0
        w.cancel_at(3)
        assert w.spec.decode() == 0
        accepted = w.spec.accepted()
        assert accepted == run(NEXT, NEXT[PROMPT[-1]], len(accepted))
        assert w.spec.decode().name == "CANCELLED"
        finish(w.spec, 20, accepted[-1])
