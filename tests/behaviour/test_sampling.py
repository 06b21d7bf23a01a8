"""Sampled text: a seeded speculative stream is the seeded plain stream, token for token."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from specbind.harness.strategies import PROMPT

SAMPLERS: dict[str, Any] = {
    "temperature": lambda seed: [("temp", 1.0), ("dist", seed)],
    "penalties, top-k, top-p": lambda seed: [
        ("penalties", 64, 16, 1.3, 0.2, 0.1), ("top_k", 10), ("top_p", 0.9), ("temp", 0.8), ("dist", seed),
    ],
    "min-p": lambda seed: [("min_p", 0.02), ("temp", 1.4), ("dist", seed)],
    "mirostat": lambda seed: [("mirostat", 64, seed, 3.0, 0.1)],
    "mirostat 2": lambda seed: [("mirostat_v2", seed, 3.0, 0.1)],
}  # fmt: skip

STRATEGIES = {
    "draft-simple": {"strategies": "draft-simple", "n_draft_max": 4},
    "ngram-map-k": {"strategies": "ngram-map-k", "ngram_map_k_n": 1, "ngram_map_k_m": 4},
    "draft-eagle3": {"strategies": "draft-eagle3", "n_draft_max": 4},
}
DRAFTS = {"draft-simple": "draft-llama", "draft-eagle3": "draft-eagle3"}


def stream(binding: Any, models: dict[str, Path], chain: Any, n: int, partial: int = 0, **options: Any) -> tuple[list[int], Any]:
    """Up to `n` tokens; `partial` is a seed for keeping a random part of each round."""
    pick = random.Random(partial)
    tokens: list[int] = []
    with binding.Session(models["target-llama-soft"], n_ctx=512, n_threads=1, **options) as session:
        spec = session.speculative
        spec.set_sampler(chain)
        spec.prompt(PROMPT)
        while len(tokens) < n and spec.decode() == 0:
            accepted = spec.accepted()
            if partial:
                accepted = accepted[: pick.randint(1, len(accepted))]
                spec.commit(len(accepted))
            tokens += accepted
        stats = spec.stats()
        spec.set_sampler(None) if not spec.info().n_open else None
    return tokens[:n], stats


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_seeded_stream_is_that_of_plain_decoding(
    binding: Any, models: dict[str, Path], llama: Any, sampler: str, strategy: str
) -> None:
    draft = {"model_draft": str(models[DRAFTS[strategy]])} if strategy in DRAFTS else {}
    drafted = lengths = 0
    for seed in range(1, 9):
        plain, _ = stream(binding, models, llama.chain(*SAMPLERS[sampler](seed)), 50)
        lengths += len(plain)
        for partial in (0, seed):
            tokens, stats = stream(
                binding, models, llama.chain(*SAMPLERS[sampler](seed)), 50, partial, **STRATEGIES[strategy], **draft
            )
            shared = min(len(tokens), len(plain))
            assert tokens[:shared] == plain[:shared], f"seed {seed}, partial commits: {bool(partial)}"
            assert shared >= min(len(plain), 40)
            drafted += stats.n_drafted
    assert drafted > 0 and lengths > 100


def test_the_logits_of_accepted_tokens_are_those_of_plain_decoding(binding: Any, models: dict[str, Path]) -> None:
    options = {"n_ctx": 512, "n_threads": 1}
    with (
        binding.Session(models["target-llama-soft"], **options) as plain,
        binding.Session(
            models["target-llama-soft"], model_draft=str(models["draft-llama"]), strategies="draft-simple", n_draft_max=4, **options
        ) as session,
    ):
        for s in (plain, session):
            s.speculative.prompt(PROMPT)
        rows: list[list[float]] = []
        while len(rows) < 40:
            assert plain.speculative.decode() == 0
            rows.append(list(plain.speculative.logits(0)))
        at = 0
        while at < 30:
            assert session.speculative.decode() == 0
            for i in range(len(session.speculative.accepted())):
                assert list(session.speculative.logits(i)) == pytest.approx(rows[at], abs=1e-4)
                at += 1


def test_a_grammar_that_ends_inside_a_draft_is_a_status(binding: Any, models: dict[str, Path], llama: Any) -> None:
    """The grammar allows the next three tokens of the cycle and then nothing but the end."""
    from specbind.harness.oracle.cycle import NEXT, VOCABULARY, run

    text = VOCABULARY.decode(run(NEXT, NEXT[PROMPT[-1]], 3)).decode()
    model = llama.model(models["target-llama"])
    keep = [llama.ffi.new("char[]", t.encode()) for t in (f'root ::= "{text}"', "root")]
    chain = llama.chain(("grammar", model, keep[0], keep[1]), ("greedy",))
    options = {"model_draft": str(models["draft-llama-perfect"]), "strategies": "draft-simple", "n_draft_max": 8}
    with binding.Session(models["target-llama"], n_ctx=256, n_threads=1, **options) as session:
        spec = session.speculative
        spec.set_sampler(chain)
        spec.prompt(PROMPT)
        tokens: list[int] = []
        while (status := spec.decode()) == 0:
            tokens += spec.accepted()
        assert status.name == "END"
        assert tokens[:3] == run(NEXT, NEXT[PROMPT[-1]], 3)
        assert spec.info().finish.name in ("EOG", "SAMPLER")
        assert len(tokens) == 4 if spec.info().finish.name == "EOG" else 3


def test_a_sampler_that_throws_is_an_error_and_the_sequence_goes_on(binding: Any, models: dict[str, Path], llama: Any) -> None:
    from specbind.harness.oracle.cycle import NEXT, run

    options = {"model_draft": str(models["draft-llama"]), "strategies": "draft-simple", "n_draft_max": 4}
    with binding.Session(models["target-llama"], n_ctx=256, n_threads=1, **options) as session:
        spec = session.speculative
        spec.set_sampler(llama.chain(("rogue", 6, 1)))
        spec.prompt(PROMPT)
        tokens: list[int] = []
        with pytest.raises(binding.SpeculativeError, match="threw on purpose"):
            while spec.decode() == 0:
                tokens += spec.accepted()
        with pytest.raises(binding.SamplerError, match="failed before"):
            spec.decode()
        assert spec.info().state.name == "READY"
        spec.set_sampler(None)
        while len(tokens) < 20:
            assert spec.decode() == 0
            tokens += spec.accepted()
        assert tokens == run(NEXT, NEXT[PROMPT[-1]], len(tokens))


@pytest.mark.parametrize("n_batch", [64, 6], ids=["one batch", "a batch per sequence"])
def test_a_sampler_that_throws_takes_nothing_from_the_other_sequences(
    binding: Any, models: dict[str, Path], llama: Any, n_batch: int
) -> None:
    """Sequence 1 fails in the middle of a round; what sequence 0 has drawn in that round is drawn again."""

    def stream(session: Any, seq: int) -> list[int]:
        spec, tokens = session.speculative, []
        spec.set_sampler(llama_chain, seq)
        spec.prompt(PROMPT, seq)
        while len(tokens) < 40:
            assert spec.decode() == 0
            tokens += spec.accepted(seq)
        return tokens[:40]

    options = {"model_draft": str(models["draft-llama"]), "strategies": "draft-simple", "n_draft_max": 4}
    llama_chain = llama.chain(("temp", 1.0), ("dist", 11))
    with binding.Session(models["target-llama-soft"], n_ctx=256, n_threads=1, **options) as session:
        alone = stream(session, 0)
    llama_chain = llama.chain(("temp", 1.0), ("dist", 11))
    rogue = llama.chain(("rogue", 6, 1))
    with binding.Session(
        models["target-llama-soft"], n_ctx=256, n_threads=1, n_seq_max=2, n_batch=n_batch, n_ubatch=n_batch, **options
    ) as session:
        spec, tokens = session.speculative, []
        spec.set_sampler(llama_chain, 0)
        spec.set_sampler(rogue, 1)
        spec.prompt(PROMPT, 0)
        spec.prompt(PROMPT, 1)
        with pytest.raises(binding.SamplerError, match="threw on purpose"):
            while spec.decode() == 0:
                tokens += spec.accepted(0)
        counted = spec.stats(0).n_emitted
        assert counted == len(tokens), "an undone round was counted"
        spec.clear(1)
        while len(tokens) < 40:
            assert spec.decode() == 0
            tokens += spec.accepted(0)
        assert tokens[:40] == alone


@pytest.mark.parametrize(
    ("samplers", "cause"),
    [([("temp", 0.8)], "selects no token"), ([("rogue", -1, 0)], "has no clone function"), ([("rogue", 0, 1)], "threw on purpose")],
    ids=["without a selector", "without clone", "one that throws at once"],
)
def test_a_chain_that_cannot_be_used_is_refused(binding: Any, models: dict[str, Path], llama: Any, samplers: Any, cause: str) -> None:
    with binding.Session(models["target-llama"], n_ctx=256, n_threads=1) as session:
        with pytest.raises(binding.SamplerError, match=cause):
            session.speculative.set_sampler(llama.chain(*samplers))
        assert len(list(session.generate(PROMPT, n_predict=4))) > 0
