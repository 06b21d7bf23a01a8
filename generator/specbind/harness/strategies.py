"""The strategies under test: models, params, and the arithmetic that says what they draft."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from specbind.harness.oracle.cycle import CYCLE, MISSES, MISSES_SECOND_HEAD, NEXT, Target, by_attention, run, with_misses
from specbind.harness.oracle.expect import Drafter, Expected, ModelDrafter, generation
from specbind.harness.oracle.ngram import NgramCache, NgramMap, NgramMod, NgramSimple

MISSING = with_misses(NEXT, MISSES)
HEADS = (MISSING, with_misses(NEXT, MISSES_SECOND_HEAD), NEXT)
PROMPT = run(NEXT, CYCLE[0], 24)


@dataclass(frozen=True)
class Case:
    """`n_predict` is long enough for every strategy to draft."""

    strategy: str
    target: str
    make: Callable[[], Drafter]
    draft: str | None = None
    params: dict[str, Any] = field(default_factory=dict)
    n_predict: int = 80
    shares_pool: bool = False  # sequences learn from each other
    contexts: dict[str, int] = field(default_factory=dict)  # options of a target context that a session does not make

    def options(self, models: dict[str, Path]) -> dict[str, Any]:
        """Keyword arguments of a session."""
        draft = {"model_draft": str(models[self.draft])} if self.draft else {}
        return {"model": models[self.target], "strategies": self.strategy, "n_threads": 1, "n_ctx": 512, **draft, **self.params}

    def expected(self, prompt: list[int] = PROMPT, **limits: Any) -> Expected:
        target = Target(NEXT, by_attention)
        return generation(target.next_token, [self.make()], prompt, limits.pop("n_predict", self.n_predict), **limits)


def ngram(name: str, make: Callable[[], Drafter], n_predict: int = 200, shares_pool: bool = False, **params: Any) -> Case:
    return Case(name, "target-llama", make, params=params, n_predict=n_predict, shares_pool=shares_pool)


def drafting(name: str, target: str, draft: str | None, n: int, *maps: tuple[int, ...], unsure: frozenset[int] = frozenset(), **params: Any) -> Case:
    return Case(name, target, partial(ModelDrafter, maps, n, unsure), draft, {"n_draft_max": n, **params})


NGRAMS = {
    "ngram-simple": ngram("ngram-simple", partial(NgramSimple, 3, 8), ngram_simple_n=3, ngram_simple_m=8),
    "ngram-map-k": ngram("ngram-map-k", partial(NgramMap, 3, 8), ngram_map_k_n=3, ngram_map_k_m=8),
    "ngram-map-k4v": ngram("ngram-map-k4v", partial(NgramMap, 3, 8, True), ngram_map_k4v_n=3, ngram_map_k4v_m=8),
    "ngram-mod": ngram(
        "ngram-mod", partial(NgramMod, 16, 2, 8), shares_pool=True, ngram_mod_n_match=16, ngram_mod_n_min=2, ngram_mod_n_max=8
    ),
    "ngram-cache": ngram("ngram-cache", NgramCache),
}

DRAFTS = {
    "draft-simple": drafting("draft-simple", "target-llama", "draft-llama", 8, MISSING),
    "draft-simple, perfect": drafting("draft-simple", "target-llama", "draft-llama-perfect", 8, NEXT),
    "draft-simple, f16 target": drafting("draft-simple", "target-llama-f16", "draft-llama", 8, MISSING),
    "draft-simple, hybrid": drafting("draft-simple", "hybrid-qwen35", "draft-llama", 8, MISSING),
    "draft-simple, sliding window": drafting("draft-simple", "target-mimo2-swa", "draft-llama", 8, MISSING),
    "draft-mtp, one head": drafting("draft-mtp", "mtp-mimo2-1", None, 8, MISSING),
    "draft-mtp, three heads": drafting("draft-mtp", "mtp-mimo2-3", None, 3, *HEADS),
    "draft-mtp, three heads from the token": drafting("draft-mtp", "mtp-mimo2-3e", None, 3, *HEADS),
    "draft-mtp, a file of its own": drafting("draft-mtp", "mtp-mimo2-trunk", "mtp-mimo2-heads", 8, MISSING),
    "draft-mtp, shared memory": drafting("draft-mtp", "target-gemma4", "mtp-gemma4-assistant", 8, MISSING),
    "draft-mtp, hybrid": drafting("draft-mtp", "mtp-qwen35", None, 8, MISSING),
    "draft-eagle3": drafting("draft-eagle3", "target-llama", "draft-eagle3", 8, MISSING),
    "draft-eagle3, shared head": drafting("draft-eagle3", "target-llama", "draft-eagle3-shared", 8, NEXT),
    "draft-eagle3, hybrid": drafting("draft-eagle3", "hybrid-qwen35", "draft-eagle3", 8, MISSING),
    "draft-dflash, hybrid": drafting("draft-dflash", "hybrid-qwen35", "draft-dflash-hybrid", 3, MISSING),
    "draft-dspark, hybrid": drafting("draft-dspark", "hybrid-qwen35", "draft-dspark-hybrid", 3, MISSING),
    "draft-dflash": drafting("draft-dflash", "target-llama", "draft-dflash", 3, MISSING),
    "draft-dspark": drafting("draft-dspark", "target-llama", "draft-dspark", 3, MISSING),
    "draft-dspark, no confidence head": drafting("draft-dspark", "target-llama", "draft-dspark-noconf", 3, MISSING),
    "draft-dspark, now and then unsure": drafting("draft-dspark", "target-llama", "draft-dspark-conf", 3, NEXT, unsure=MISSES, p_min=0.5),
    "draft-dspark, unsure and unheeded": drafting("draft-dspark", "target-llama", "draft-dspark-conf", 3, NEXT),
}

ALL = NGRAMS | DRAFTS

CHECKPOINTS = {"n_rs_seq": 0}
WINDOW = {"swa_full": 0}  # cells outside the sliding window are gone
OWN_CONTEXTS = {
    "draft-simple, hybrid with checkpoints": replace(ALL["draft-simple, hybrid"], contexts=CHECKPOINTS),
    "draft-mtp, hybrid with checkpoints": replace(ALL["draft-mtp, hybrid"], contexts=CHECKPOINTS),
    "draft-eagle3, hybrid with checkpoints": replace(ALL["draft-eagle3, hybrid"], contexts=CHECKPOINTS),
    "draft-dflash, hybrid with checkpoints": replace(ALL["draft-dflash, hybrid"], contexts=CHECKPOINTS),
    "ngram-simple, hybrid with checkpoints": replace(NGRAMS["ngram-simple"], target="hybrid-qwen35", contexts=CHECKPOINTS),
    "draft-simple, hybrid with fewer snapshots than the draft": replace(ALL["draft-simple, hybrid"], contexts={"n_rs_seq": 2}),
    "draft-simple, window without the rest": replace(ALL["draft-simple, sliding window"], contexts=WINDOW),
    "ngram-simple, window without the rest": replace(NGRAMS["ngram-simple"], target="target-mimo2-swa", contexts=WINDOW),
    "draft-simple, one cache for all sequences": replace(ALL["draft-simple"], contexts={"kv_unified": 1}),
}
