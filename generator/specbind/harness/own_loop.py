"""A loop on contexts of the caller's own, for target kinds that a session does not make."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from specbind.harness.llama import Llama
from specbind.harness.strategies import Case


class Own:
    """Like a session: `.speculative` is the loop. `.target` is its context."""

    def __init__(self, speculative: Any, target: Any) -> None:
        self.speculative = speculative
        self.target = target


@contextmanager
def own_loop(binding: Any, llama: Llama, models: dict[str, Path], case: Case, **options: Any) -> Iterator[Own]:
    """The case's strategy on contexts made with `options`; freed in the right order."""
    params = {"strategies": case.strategy, **case.params}
    model = llama.model(models[case.target], load_mtp=case.strategy == "draft-mtp" and case.draft is None)
    draft_model = llama.model(models[case.draft], load_mtp=case.strategy == "draft-mtp") if case.draft else None
    target = llama.context(model, **(case.contexts | options))
    address = int(llama.ffi.cast("uintptr_t", target))
    draft_address = binding.draft_context(address, draft_model, **params)
    try:
        with binding.Speculative(address, draft_address, **params) as spec:
            yield Own(spec, target)
    finally:
        if draft_address:
            llama.lib.llama_free(llama.ffi.cast("struct llama_context *", draft_address))
        llama.lib.llama_free(target)
