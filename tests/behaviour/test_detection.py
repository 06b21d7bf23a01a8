"""`auto` finds the strategy that a draft is made for, says what it found and why, and then everything is as if it were named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from specbind.harness.strategies import ALL, DRAFTS, PROMPT, Case

REASONS = {
    "draft-simple": "the draft is a language model of its own",
    "draft-eagle3": "the draft is an EAGLE-3 head",
    "draft-dflash": "the draft is a DFlash model",
    "draft-dspark": "the draft is a DFlash model with a Markov head",
}


def reason(case: Case) -> str:
    if case.strategy != "draft-mtp":
        return REASONS[case.strategy]
    return "the draft has MTP heads for hidden rows of the target's width" if case.draft else "no draft is given, and the target has MTP heads"


@pytest.mark.parametrize("case", DRAFTS.values(), ids=DRAFTS.keys())
def test_a_session_finds_what_its_draft_is_made_for(binding: Any, models: dict[str, Path], case: Case) -> None:
    expected = case.expected()
    options = case.options(models) | {"strategies": "auto"}
    with binding.Session(**options) as session:
        assert (session.selection.strategies, session.selection.reason) == (case.strategy, reason(case))
        tokens = [piece.token for piece in session.generate(PROMPT, n_predict=case.n_predict)]
        result = session.result
    assert (result.n_drafted, result.n_accepted, result.n_emitted) == (expected.drafted, expected.accepted, len(expected.tokens))
    assert tokens[-1] == expected.tokens[-1]


@pytest.mark.parametrize("name", ["draft-simple", "draft-mtp, one head", "draft-mtp, a file of its own", "draft-mtp, shared memory", "draft-eagle3", "draft-dspark"])
def test_the_loop_finds_it_from_the_contexts(binding: Any, own_loop: Callable[..., Any], llama: Any, models: dict[str, Path], name: str) -> None:
    case = ALL[name]
    params = {**case.params, "strategies": "auto"}
    model = llama.model(models[case.target], load_mtp=case.strategy == "draft-mtp" and case.draft is None)
    draft = llama.model(models[case.draft], load_mtp=case.strategy == "draft-mtp") if case.draft else None
    needs = binding.requirements(model, draft, **params)
    assert (needs.needs_draft_context, needs.needs_draft_model) == (True, case.strategy != "draft-mtp")
    target = llama.context(model)
    address = int(llama.ffi.cast("uintptr_t", target))
    draft_context = binding.draft_context(address, draft, **params)
    try:
        with binding.Speculative(address, draft_context, **params) as spec:
            assert (spec.selection.strategies, spec.selection.reason) == (case.strategy, reason(case))
    finally:
        llama.lib.llama_free(llama.ffi.cast("struct llama_context *", draft_context))
        llama.lib.llama_free(target)


def test_n_gram_strategies_may_stand_beside_it(binding: Any, models: dict[str, Path]) -> None:
    with binding.Session(models["mtp-mimo2-1"], strategies="ngram-cache, auto", n_ctx=256, n_threads=1) as session:
        assert session.selection.strategies == "ngram-cache,draft-mtp"


@pytest.mark.parametrize(
    ("options", "selection"),
    [
        ({"strategies": "auto"}, ("none", "no draft is given, and the target has no MTP heads")),
        ({"strategies": "auto,ngram-simple"}, ("ngram-simple", "no draft is given, and the target has no MTP heads")),
        ({"strategies": "auto", "model_draft": "draft-eagle3", "n_draft_max": 0}, ("none", "n_draft_max is 0")),
        ({"strategies": "draft-simple", "model_draft": "draft-llama"}, ("draft-simple", "it is named in the params")),
        ({}, ("none", "none is named in the params")),
    ],
)
def test_where_nothing_is_found_or_asked_for_it_says_so(
    binding: Any, models: dict[str, Path], options: dict[str, Any], selection: tuple[str, str]
) -> None:
    if "model_draft" in options:
        options = options | {"model_draft": models[options["model_draft"]]}
    with binding.Session(models["target-llama"], n_ctx=256, n_threads=1, **options) as session:
        assert (session.selection.strategies, session.selection.reason) == selection


@pytest.mark.parametrize(
    ("target", "options", "exception", "cause"),
    [
        ("target-llama", {"strategies": "auto,draft-mtp"}, "InvalidArgumentError", "so 'draft-mtp' cannot stand beside it"),
        ("target-llama", {"strategies": "none,auto"}, "InvalidArgumentError", "'none' cannot stand beside 'auto'"),
        ("mtp-qwen35-2", {"strategies": "auto"}, "UnsupportedError", "2 MTP heads, but llama.cpp runs architecture 'qwen35' with one"),
        ("target-llama", {"model_draft": "draft-llama-bigvocab"}, "UnsupportedError", "draft-simple: the draft's vocabulary does not match"),
        ("target-llama", {"model_draft": "draft-dflash", "n_draft_max": 9}, "UnsupportedError", "so draft-dflash drafts at most 3"),
    ],
)
def test_what_is_found_is_held_to_its_own_conditions(
    binding: Any, models: dict[str, Path], target: str, options: dict[str, Any], exception: str, cause: str
) -> None:
    given = {"strategies": "auto", **options}
    if "model_draft" in given:
        given["model_draft"] = models[given["model_draft"]]
    with pytest.raises(getattr(binding, exception), match=cause):
        binding.Session(models[target], n_ctx=256, n_threads=1, **given)
