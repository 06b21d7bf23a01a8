"""What llama.cpp would abort on, throw or pass over is refused with its cause, and the object goes on afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from specbind.harness.oracle.cycle import CYCLE, NEXT, run
from specbind.harness.strategies import ALL, PROMPT

SIMPLE = ALL["draft-simple"]

# (keyword arguments of a session, exception, cause); models by name
SESSIONS: dict[str, tuple[dict[str, Any], str, str]] = {
    "no draft model": ({"strategies": "draft-simple"}, "UnsupportedError", "needs a draft model of its own"),
    "a draft without a strategy": ({"model_draft": "draft-llama"}, "InvalidArgumentError", "none of the strategies 'none' uses a draft"),
    "another vocabulary": (
        {"strategies": "draft-simple", "model_draft": "draft-llama-bigvocab"}, "UnsupportedError", "64 tokens and the draft 264",
    ),
    "an unknown strategy": ({"strategies": "draft-simpel"}, "InvalidArgumentError", "'draft-simpel' is not a strategy; known are none"),
    "none and another": ({"strategies": "none,ngram-mod"}, "InvalidArgumentError", "'none' cannot stand beside 'ngram-mod'"),
    "two draft models": (
        {"strategies": "draft-simple,draft-mtp", "model_draft": "draft-llama"}, "UnsupportedError", "both need the draft context",
    ),
    "MTP without heads": ({"strategies": "draft-mtp"}, "UnsupportedError", "the target model has no MTP heads"),
    "MTP with a draft that has none": (
        {"strategies": "draft-mtp", "model": "mtp-mimo2-1", "model_draft": "draft-llama"}, "UnsupportedError", "the draft model has no MTP",
    ),
    "MTP with more heads than llama.cpp runs": (
        {"strategies": "draft-mtp", "model": "mtp-qwen35-2"}, "UnsupportedError", "has 2 MTP heads, but llama.cpp runs architecture 'qwen35' with one",
    ),
    "no target": ({"strategies": "draft-simple", "model": ""}, "ModelError", "cannot open ''"),
    "an n-gram hash that can never draft": (
        {"strategies": "ngram-mod", "ngram_mod_n_min": 9, "ngram_mod_n_max": 8}, "InvalidArgumentError", "ngram_mod_n_max is 8, less than",
    ),
    "a size beyond 16 bits": ({"strategies": "ngram-map-k", "ngram_map_k_m": 65536}, "InvalidArgumentError", "ngram_map_k_m is 65536, expected"),
    "a penalty that is no number": ({"penalty_repeat": float("nan"), "temperature": 1.0}, "InvalidArgumentError", "penalty_repeat is"),
    "a context without room": ({"n_ctx": -1}, "InvalidArgumentError", "n_ctx is -1, expected 0"),
    "EAGLE-3 with a plain draft": (
        {"strategies": "draft-eagle3", "model_draft": "draft-llama"}, "UnsupportedError", "architecture 'eagle3', but this one is 'llama'",
    ),
    "EAGLE-3 for a deeper target": (
        {"strategies": "draft-eagle3", "model": "target-llama-plain", "model_draft": "draft-eagle3"}, "UnsupportedError", "reads layer 2",
    ),
    "DSpark with a DFlash draft": (
        {"strategies": "draft-dspark", "model_draft": "draft-dflash"}, "UnsupportedError", "needs a draft with a Markov head",
    ),
    "DFlash with a DSpark draft": (
        {"strategies": "draft-dflash", "model_draft": "draft-dspark"}, "UnsupportedError", "use it with draft-dspark",
    ),
    "a longer draft than the block": (
        {"strategies": "draft-dflash", "model_draft": "draft-dflash", "n_draft_max": 4}, "UnsupportedError", "drafts at most 3 tokens",
    ),
    "a probability without a confidence head": (
        {"strategies": "draft-dspark", "model_draft": "draft-dspark-noconf", "p_min": 0.5}, "UnsupportedError", "no confidence head",
    ),
    "a minimum above the maximum": (
        {"strategies": "draft-simple", "model_draft": "draft-llama", "n_draft_min": 4}, "InvalidArgumentError", "n_draft_min is 4",
    ),
    "an n-gram that can never draft": (
        {"strategies": "ngram-simple", "ngram_simple_n": 9, "ngram_simple_m": 8}, "InvalidArgumentError", "nothing would ever be drafted",
    ),
    "an n-gram of size 0": ({"strategies": "ngram-simple", "ngram_simple_n": 0}, "InvalidArgumentError", "ngram_simple_n is 0, expected 1"),
    "a draft limit below 0": ({"n_draft_max": -1}, "InvalidArgumentError", "n_draft_max is -1, expected 0 to 512"),
    "a probability that is no number": ({"p_min": float("nan")}, "InvalidArgumentError", "p_min is "),
    "a cache file that is not there": (
        {"strategies": "ngram-cache", "ngram_cache_static": "/nowhere"}, "InvalidArgumentError", "cannot open '/nowhere'",
    ),
    "a cache file that is none": (
        {"strategies": "ngram-cache", "ngram_cache_dynamic": __file__}, "InvalidArgumentError", "is not an n-gram cache file",
    ),
    "a batch of 1": (
        {"strategies": "draft-simple", "model_draft": "draft-llama", "n_batch": 1}, "UnsupportedError", "n_batch is 1: a round with a draft",
    ),
    "an assistant of another kind of target": (
        {"strategies": "draft-mtp", "model_draft": "mtp-gemma4-assistant"}, "UnsupportedError", "look into the memory of a 'gemma4' target",
    ),
    "an assistant of a target with other layers": (
        {"model": "target-gemma4-other", "strategies": "draft-mtp", "model_draft": "mtp-gemma4-assistant"},
        "UnsupportedError", "head 0 needs layer 0 of the target to have a sliding window",
    ),
    "an unknown device": ({"device": "Abacus0"}, "InvalidArgumentError", "there is no device 'Abacus0'; this build has CPU"),
    "no such model": ({"model": "/nowhere.gguf"}, "ModelError", "cannot open '/nowhere.gguf'"),
    "not a GGUF": ({"model": __file__}, "ModelError", "is not a GGUF file"),
    "a grammar that does not parse": ({"grammar": "root ::= ("}, "SamplerError", "not a valid GBNF grammar"),
}  # fmt: skip


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_that_cannot_work_is_refused(binding: Any, models: dict[str, Path], name: str) -> None:
    options, exception, cause = SESSIONS[name]
    given = {"model": "target-llama", "n_ctx": 256, "n_threads": 1, **options}
    for key in ("model", "model_draft"):
        if given.get(key) in models:
            given[key] = str(models[given[key]])
    with pytest.raises(getattr(binding, exception)) as caught:
        binding.Session(given.pop("model"), **given)
    assert cause in str(caught.value)


# what is called on a running loop -> (exception, cause)
CALLS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "a sequence beyond the last": (lambda s: s.info(4), "InvalidArgumentError", "seq_id is 4, expected 0 to 3|4 sequences"),
    "a negative sequence": (lambda s: s.prompt([5], -2), "InvalidArgumentError", r"batch.seq_id\[0\] is -2"),
    "a token outside the vocabulary": (lambda s: s.prompt([5, 64], 1), "InvalidArgumentError", r"batch.token\[1\] is 64"),
    "interleaved sequences": (lambda s: s.prompt([5, 6, 7], [1, 2, 1]), "InvalidArgumentError", "do not stand together"),
    "commit without a round": (lambda s: s.commit(1, 2), "CallOrderError", "no open round"),
    "commit of more than there is": (lambda s: s.commit(100), "InvalidArgumentError", "n_keep is 100, but the round has"),
    "commit of nothing": (lambda s: s.commit(0), "InvalidArgumentError", "n_keep is 0"),
    "truncating an open round": (lambda s: s.truncate(5), "RoundOpenError", "call commit first"),
    "copying an open round": (lambda s: s.copy(0, 1), "RoundOpenError", "call commit first"),
    "shifting an open round": (lambda s: s.shift(10, -5), "RoundOpenError", "call commit first"),
    "the primitives on a sequence of the loop": (lambda s: s.begin(0, [5, 6]), "CallOrderError", "is driven by decode"),
    "logits beyond the accepted": (lambda s: s.logits(100), "InvalidArgumentError", "index is 100"),
    "logits of a sequence that took no part": (lambda s: s.logits(0, 3), "CallOrderError", "accepted no tokens"),
    "accepting without a draft": (lambda s: s.accept(1, 2), "CallOrderError", "has no draft"),
    "drafting before the prompt was shown": (lambda s: s.draft_request(1, 7, 5, 3), "CallOrderError", "process has been shown 0 tokens"),
    "beginning before the prompt was shown": (lambda s: s.begin(1, [5, 6, 7]), "CallOrderError", "process has been shown 0"),
    "showing what the target has not decoded": (
        lambda s: s.process([5, 6], pos=[0, 1], seq_id=1), "CallOrderError", "decode the batch on the target before process",
    ),
    "showing positions with a gap": (lambda s: s.process([5], pos=[9], seq_id=1), "CallOrderError", "has been given only 0 tokens"),
    "statistics of a strategy that is not active": (lambda s: s.stats(0, "ngram-mod"), "InvalidArgumentError", "active: draft-simple"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_call_out_of_order_is_refused_and_the_loop_goes_on(binding: Any, models: dict[str, Path], name: str) -> None:
    call, exception, cause = CALLS[name]
    with binding.Session(**SIMPLE.options(models), n_seq_max=4) as session:
        spec = session.speculative
        spec.prompt(PROMPT)
        assert spec.decode() == 0
        tokens = spec.accepted()
        with pytest.raises(getattr(binding, exception), match=cause):
            call(spec)
        assert spec.info().state.name == "READY"
        while len(tokens) < 40:
            assert spec.decode() == 0
            tokens += spec.accepted()
        assert tokens == run(NEXT, NEXT[PROMPT[-1]], len(tokens))


def test_accepting_nothing_after_an_empty_draft_is_fine(binding: Any, models: dict[str, Path], llama: Any) -> None:
    model = llama.model(models["target-llama"])
    target = llama.context(model)
    with binding.Speculative(int(llama.ffi.cast("uintptr_t", target)), strategies="ngram-simple") as spec:
        llama.decode(target, PROMPT[:5], 0)
        spec.process(PROMPT[:5], pos=range(5))
        spec.begin(0, PROMPT[:5])
        spec.accept(0, 0)
        spec.draft_request(0, 5, PROMPT[5], 8)
        spec.draft()
        assert spec.get_draft() == []
        with pytest.raises(binding.CallOrderError, match="the last round of sequence 0 is not ended"):
            spec.draft_request(0, 5, PROMPT[5], 8)
        llama.decode(target, [PROMPT[5]], 5)
        spec.process([PROMPT[5]], pos=[5])
        spec.accept(0, 0)
        spec.draft_request(0, 6, PROMPT[6], 0)
    llama.lib.llama_free(target)


@dataclass(frozen=True)
class Contexts:
    """What a caller may do wrong when it makes the contexts. A draft context is made by hand where `draft` names a model."""

    cause: str
    params: dict[str, Any]
    target: dict[str, int] = field(default_factory=dict)
    draft: str | None = None
    draft_options: dict[str, int] = field(default_factory=dict)
    model: str = "target-llama"


SIMPLE_PARAMS = {"strategies": "draft-simple", "n_draft_max": 4}
BLOCK = {"strategies": "draft-dflash", "n_draft_max": 3}
CONTEXTS = {
    "too few outputs": Contexts("n_outputs_max is 1", {"strategies": "ngram-simple"}, {"n_outputs_max": 1}),
    "a batch of 1": Contexts("n_batch is 1: a round", {"strategies": "ngram-simple"}, {"n_batch": 1, "n_ubatch": 1}),
    "embeddings": Contexts("makes embeddings", {"strategies": "ngram-simple"}, {"embeddings": 1}),
    "a physical batch below the snapshots": Contexts(
        "n_ubatch is 8: with n_rs_seq 8", {"strategies": "ngram-simple"}, {"n_ubatch": 8, "n_rs_seq": 8}, model="hybrid-qwen35"
    ),
    "no draft context": Contexts("draft_context_init", {"strategies": "draft-simple"}),
    "a draft of fewer sequences": Contexts("n_seq_max 1, the target 4", SIMPLE_PARAMS, {"n_seq_max": 4}, "draft-llama", {"n_seq_max": 1}),
    "a draft of smaller batches": Contexts("n_batch 32, the target 64", SIMPLE_PARAMS, {}, "draft-llama", {"n_batch": 32, "n_ubatch": 32}),
    "a draft of a shorter context": Contexts("holds 256 tokens per sequence", SIMPLE_PARAMS, {}, "draft-llama", {"n_ctx": 256}),
    "a draft of another type": Contexts("another type", {"strategies": "draft-mtp"}, {}, "mtp-mimo2-1", {}, "mtp-mimo2-1"),
    "a block that does not fit": Contexts("n_ubatch 2; draft-dflash", BLOCK, {}, "draft-dflash", {"n_ubatch": 2}),
    "outputs per sequence for less than a block": Contexts(
        "n_outputs_max_per_seq 1; draft-dflash with backend", {**BLOCK, "backend_sampling": True}, {}, "draft-dflash", {"n_outputs_max": 4}
    ),
}


@pytest.mark.parametrize("name", CONTEXTS)
def test_contexts_that_do_not_fit_are_refused(binding: Any, models: dict[str, Path], llama: Any, name: str) -> None:
    case = CONTEXTS[name]
    model = llama.model(models[case.model])
    target = llama.context(model, **case.target)
    draft_model = llama.model(models[case.draft], load_mtp=True) if case.draft else None
    draft = llama.context(draft_model, other=target, **case.draft_options) if case.draft else None
    address = int(llama.ffi.cast("uintptr_t", target))
    with pytest.raises(binding.UnsupportedError, match=case.cause):
        binding.Speculative(address, int(llama.ffi.cast("uintptr_t", draft)) if draft else None, **case.params)
    if draft:
        with binding.Speculative(address) as plain:  # nothing is left on the target
            plain.prompt(PROMPT)
            assert plain.decode() == 0
            assert plain.accepted() == [NEXT[PROMPT[-1]]]
        llama.lib.llama_free(draft)
    llama.lib.llama_free(target)


def test_the_target_is_no_draft_context(binding: Any, models: dict[str, Path], llama: Any) -> None:
    model = llama.model(models["target-llama"])
    target = llama.context(model)
    address = int(llama.ffi.cast("uintptr_t", target))
    with pytest.raises(binding.InvalidArgumentError, match="ctx_dft is the target context"):
        binding.Speculative(address, address, **SIMPLE_PARAMS)
    llama.lib.llama_free(target)


def test_off_is_off_whatever_context_is_given(binding: Any, models: dict[str, Path], llama: Any) -> None:
    model, draft_model = llama.model(models["target-llama"]), llama.model(models["draft-llama"])
    target, draft = llama.context(model), llama.context(draft_model)
    addresses = [int(llama.ffi.cast("uintptr_t", c)) for c in (target, draft)]
    with pytest.raises(binding.InvalidArgumentError, match="none of the strategies 'ngram-mod' uses a draft context"):
        binding.Speculative(*addresses, strategies="ngram-mod")
    with binding.Speculative(*addresses, strategies="draft-simple", n_draft_max=0) as spec:
        spec.prompt(PROMPT)
        assert spec.decode() == 0
        assert spec.accepted() == [NEXT[PROMPT[-1]]]
    for context in (draft, target):
        llama.lib.llama_free(context)


def test_hidden_rows_are_there_when_they_are_switched_on(binding: Any, models: dict[str, Path], llama: Any) -> None:
    """The oracle's hidden row of a token is the same whatever came after it, and different for another token."""
    from llama_speculative._library import default_library

    raw, model = default_library(), llama.model(models["mtp-mimo2-1"], load_mtp=True)
    ffi, lib, target = raw.ffi, raw.lib, llama.context(model)
    context = ffi.cast("struct llama_context *", int(llama.ffi.cast("uintptr_t", target)))
    row, n_embd = ffi.new("const float **"), ffi.new("int32_t *")

    def rows(n: int) -> list[list[float]]:
        out = []
        for i in range(n):
            assert lib.llama_speculative_hidden_row(context, i, row, n_embd) == 0
            out.append(list(ffi.unpack(row[0], n_embd[0])))
        return out

    def refused(i: int) -> str:
        assert lib.llama_speculative_hidden_row(context, i, row, n_embd) == binding.Status.ERROR_CALL_ORDER
        return str(ffi.string(lib.llama_speculative_last_error(ffi.NULL)))

    assert "no hidden row 0: switch them on with hidden_enable" in refused(0)
    lib.llama_speculative_hidden_enable(context, binding.HiddenMode.ALL)
    llama.decode(target, PROMPT[:8], 0, output=False)
    first = rows(8)
    assert any(abs(a - b) > 1e-3 for a, b in zip(first[0], first[1], strict=True))
    llama.decode(target, [PROMPT[8]], 8)
    assert rows(1)[0] != first[0]
    assert "no hidden row 100000" in refused(100000)
    lib.llama_speculative_hidden_enable(context, binding.HiddenMode.OFF)
    assert "no hidden row 0" in refused(0)
    llama.lib.llama_free(target)


def test_a_second_spec_on_a_target_is_refused_until_the_first_is_gone(binding: Any, models: dict[str, Path], llama: Any) -> None:
    model = llama.model(models["target-llama"])
    target = llama.context(model)
    address = int(llama.ffi.cast("uintptr_t", target))
    first = binding.Speculative(address, strategies="ngram-simple")
    with pytest.raises(binding.BusyError, match="another live spec uses this target context"):
        binding.Speculative(address)
    first.close()
    with binding.Speculative(address) as second:
        second.prompt(PROMPT)
        assert second.decode() == 0
    llama.lib.llama_free(target)


def test_a_spec_after_the_first_decode_is_refused(binding: Any, models: dict[str, Path], llama: Any) -> None:
    model = llama.model(models["target-llama"])
    target = llama.context(model)
    llama.decode(target, PROMPT, 0)
    with pytest.raises(binding.CallOrderError, match="already holds tokens of sequence 0"):
        binding.Speculative(int(llama.ffi.cast("uintptr_t", target)), strategies="ngram-simple")
    llama.lib.llama_free(target)


def test_two_threads_in_one_object_are_refused_not_mixed_up(binding: Any, models: dict[str, Path]) -> None:
    """A call from a callback of the same object is what a second thread would be, and it is there every time."""
    with binding.Session(models["target-llama"], n_ctx=256, n_threads=1) as session:
        ffi, lib = session._library.ffi, session._library.lib
        seen = []

        @ffi.callback("int32_t(const llama_speculative_piece *, void *)")
        def again(piece: Any, user: Any) -> int:
            result = ffi.new("llama_speculative_gen_result *", {"struct_size": ffi.sizeof("llama_speculative_gen_result")})
            seen.append(lib.llama_speculative_session_result(session._handle, result))
            return 0

        tokens = run(NEXT, CYCLE[0], 5)
        params = session._library.defaults("gen_params", "gen_params_init")
        params.n_predict = 5
        status = lib.llama_speculative_session_generate(
            session._handle, ffi.new("int32_t[]", tokens), len(tokens), params, again, ffi.NULL, ffi.NULL
        )
        assert status == binding.Status.END
        assert set(seen) == {binding.Status.ERROR_BUSY}


def test_the_primitives_say_what_the_order_is_and_go_on(binding: Any, models: dict[str, Path], own_loop: Any, llama: Any) -> None:
    """Every mistake of a round, made once in the middle of a generation that then goes on to the oracle's tokens."""

    def refused(exception: str, cause: str, name: str, *arguments: int) -> None:
        with pytest.raises(getattr(binding, exception), match=cause):
            getattr(spec, name)(0, *arguments)
        assert (spec.info().state.name, spec.info().n_tokens) == ("READY", pos)

    with own_loop(SIMPLE, n_batch=32, n_ubatch=32) as own:
        spec, target = own.speculative, own.target
        llama.decode(target, PROMPT[:-1], 0)
        with pytest.raises(binding.InvalidArgumentError, match=r"batch\.n_tokens is 40, but the target's n_batch is 32"):
            spec.process([PROMPT[0]] * 40, pos=list(range(40)))
        spec.process(PROMPT[:-1], pos=list(range(len(PROMPT) - 1)))
        with pytest.raises(binding.CallOrderError, match="begin and accept have given 0 tokens"):
            spec.draft_request(0, len(PROMPT) - 1, PROMPT[-1], 4)
        spec.begin(0, PROMPT[:-1])
        last, pos, answer = PROMPT[-1], len(PROMPT) - 1, []
        while len(answer) < 30:
            refused("CallOrderError", "process has been shown", "draft_request", pos + 1, last, 4)
            refused("CallOrderError", "has no draft", "accept", 1)
            spec.draft_request(0, pos, last, 4)
            spec.draft()
            draft = spec.get_draft(0)
            assert 0 < len(draft) <= 4
            refused("CallOrderError", "is not ended", "draft_request", pos, last, 4)
            refused("InvalidArgumentError", f"the draft of sequence 0 has {len(draft)} tokens", "accept", len(draft) + 1)
            refused("CallOrderError", "decode and process the last token and the draft before accept", "accept", len(draft))
            batch = [last, *draft]
            llama.decode(target, batch, pos)
            spec.process(batch, pos=list(range(pos, pos + len(batch))), output=True)
            chosen = [llama.argmax(target, i, 64) for i in range(len(batch))]
            n = next((i for i, token in enumerate(draft) if token != chosen[i]), len(draft))
            spec.accept(0, n)
            pos, last, answer = pos + n + 1, chosen[n], answer + chosen[: n + 1]
            llama.lib.helper_seq_rm(target, 0, pos, -1)
            refused("CallOrderError", "has no draft", "accept", 1)  # twice
        assert answer == run(NEXT, NEXT[PROMPT[-1]], len(answer))


def test_a_draft_with_a_quantised_cache_drafts_all_the_same(binding: Any, models: dict[str, Path], llama: Any) -> None:
    model, draft_model = llama.model(models["target-llama"]), llama.model(models["draft-llama-perfect"])
    target = llama.context(model)
    draft = llama.context(draft_model, other=target, type_v_q8_0=1, flash_attn=1)
    with binding.Speculative(*(int(llama.ffi.cast("uintptr_t", c)) for c in (target, draft)), **SIMPLE_PARAMS) as spec:
        spec.prompt(PROMPT)
        tokens: list[int] = []
        while len(tokens) < 40:
            assert spec.decode() == 0
            tokens += spec.accepted()
        assert tokens == run(NEXT, NEXT[PROMPT[-1]], len(tokens))
        assert spec.stats().n_accepted == spec.stats().n_drafted > 20
    for context in (draft, target):
        llama.lib.llama_free(context)


def test_no_target_context_is_refused(binding: Any) -> None:
    for strategy in ("none", "draft-simple", "draft-mtp", "draft-eagle3", "draft-dflash", "ngram-simple"):
        with pytest.raises(binding.InvalidArgumentError, match="ctx_tgt is NULL"):
            binding.Speculative(0, strategies=strategy)


def test_a_buffer_that_is_too_small_loses_nothing(binding: Any, models: dict[str, Path]) -> None:
    """It says how large it must be, and the tokens are there for the next call."""
    options = {"model_draft": str(models["draft-llama-perfect"]), "strategies": "draft-simple", "n_draft_max": 40}
    with binding.Session(models["target-llama"], n_ctx=256, n_threads=1, **options) as session:
        spec, library = session.speculative, session._library
        spec.prompt(PROMPT)
        assert spec.decode() == 0
        buffer, n = library.ffi.new("int32_t[]", 41), library.ffi.new("size_t *")
        status = library.lib.llama_speculative_get_accepted_tokens(spec._handle, 0, buffer, 40, n)
        assert (status, n[0], list(buffer)) == (binding.Status.ERROR_BUFFER_TOO_SMALL, 41, [0] * 41)
        assert library.lib.llama_speculative_get_accepted_tokens(spec._handle, 0, buffer, 41, n) == 0
        assert list(buffer) == run(NEXT, NEXT[PROMPT[-1]], 41)
