"""The oracle models by name, and the command that writes them: `python -m specbind.harness.oracle.catalogue DIR`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from specbind.harness.oracle.cycle import MISSES, MISSES_SECOND_HEAD, N_VOCAB, NEXT, NEXT_EOS, VOCABULARY, with_misses

if TYPE_CHECKING:
    from specbind.harness.oracle.gguf_file import Model

TARGET_LAYERS = (0, 1, 2)  # what EAGLE-3 and DFlash drafts read of the three-layer target
HYBRID_LAYERS = (0, 1)  # the same for the hybrid target


@dataclass(frozen=True)
class Entry:
    """A model of the catalogue: what it is for, how it is made, and whether its matrices are f16."""

    purpose: str
    make: Callable[[], Model]
    half: bool = False


def catalogue() -> dict[str, Entry]:
    """Every model by file stem."""
    from specbind.harness.oracle.dflash import dflash, dspark
    from specbind.harness.oracle.eagle3 import eagle3
    from specbind.harness.oracle.gemma4 import gemma4, gemma4_assistant
    from specbind.harness.oracle.llama import llama
    from specbind.harness.oracle.mimo2 import mimo2
    from specbind.harness.oracle.qwen35 import qwen35

    missing = with_misses(NEXT, MISSES)
    heads = (missing, with_misses(NEXT, MISSES_SECOND_HEAD), NEXT)
    return {
        "target-llama": Entry("second-order target", lambda: llama(NEXT, n_layers=3)),
        "target-llama-plain": Entry("first-order target", lambda: llama(NEXT, vote=0.0)),
        "target-llama-soft": Entry("target for sampling", lambda: llama(NEXT, n_layers=3, soft=True)),
        "target-llama-f16": Entry("target with f16 weights", lambda: llama(NEXT, n_layers=3), half=True),
        "target-llama-eos": Entry("target that ends", lambda: llama(NEXT_EOS, n_layers=3)),
        "target-mimo2-swa": Entry(
            "target whose vote has a sliding window of 8", lambda: mimo2(NEXT, n_layers=2, window=8, window_on_last=True)
        ),
        "draft-llama": Entry("draft with known misses", lambda: llama(missing, vote=0.0)),
        "draft-llama-perfect": Entry("draft without misses", lambda: llama(NEXT, vote=0.0)),
        "draft-llama-eos": Entry("perfect draft of the target that ends", lambda: llama(NEXT_EOS, vote=0.0)),
        "draft-llama-bigvocab": Entry(
            "draft of another vocabulary", lambda: llama(NEXT, vote=0.0, n_vocab=N_VOCAB + 200)
        ),
        "mtp-mimo2-1": Entry("target with one MTP head", lambda: mimo2(NEXT, heads[:1])),
        "mtp-mimo2-3": Entry("target with three chained MTP heads", lambda: mimo2(NEXT, heads)),
        "mtp-mimo2-3e": Entry("the same, heads that read the token only", lambda: mimo2(NEXT, heads, source="token")),
        "mtp-mimo2-trunk": Entry("target whose MTP head is another file", lambda: mimo2(NEXT, heads[:1], part="trunk")),
        "mtp-mimo2-heads": Entry("that MTP head", lambda: mimo2(NEXT, heads[:1], part="heads")),
        "target-gemma4": Entry("target whose memory the assistant's heads share", lambda: gemma4(NEXT)),
        "target-gemma4-other": Entry("target of the same kind that the heads do not fit", lambda: gemma4(NEXT, window_on_last=True)),
        "mtp-gemma4-assistant": Entry("MTP heads without a memory of their own", lambda: gemma4_assistant(NEXT, missing)),
        "hybrid-qwen35": Entry("hybrid target, vote through the convolution", lambda: qwen35(NEXT)),
        "hybrid-qwen35-state": Entry("hybrid target, vote through the state", lambda: qwen35(NEXT, memory="state")),
        "mtp-qwen35": Entry("hybrid target with an MTP head", lambda: qwen35(NEXT, missing)),
        "mtp-qwen35-2": Entry("hybrid target with one head more than llama.cpp runs", lambda: qwen35(NEXT, missing, n_heads=2)),
        "draft-eagle3": Entry("EAGLE-3 with its own head", lambda: eagle3(NEXT, missing, TARGET_LAYERS)),
        "draft-eagle3-shared": Entry("EAGLE-3 with the target's head", lambda: eagle3(NEXT, None, TARGET_LAYERS)),
        "draft-dflash": Entry("DFlash, block of 4", lambda: dflash(NEXT, MISSES, TARGET_LAYERS)),
        "draft-dspark": Entry("DSpark, block of 4", lambda: dspark(NEXT, MISSES, TARGET_LAYERS)),
        "draft-dflash-hybrid": Entry("DFlash for the hybrid target", lambda: dflash(NEXT, MISSES, HYBRID_LAYERS)),
        "draft-dspark-hybrid": Entry("DSpark for the hybrid target", lambda: dspark(NEXT, MISSES, HYBRID_LAYERS)),
        "draft-dspark-noconf": Entry(
            "DSpark without a confidence head", lambda: dspark(NEXT, MISSES, TARGET_LAYERS, confidence=False)
        ),
        "draft-dspark-conf": Entry(
            "DSpark that is unsure where others miss", lambda: dspark(NEXT, (), TARGET_LAYERS, unsure=MISSES)
        ),
    }  # fmt: skip


def write_all(folder: Path) -> dict[str, Path]:
    """Write every model, and `oracle.json` for tests in other languages. Returns the paths by name. Takes about two seconds."""
    from specbind.harness.oracle.gguf_file import write

    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name, entry in catalogue().items():
        paths[name] = folder / f"{name}.gguf"
        write(entry.make(), paths[name], half=entry.half)
    facts = {
        "next": NEXT,
        "next_eos": NEXT_EOS,
        "misses": sorted(MISSES),
        "misses_second_head": sorted(MISSES_SECOND_HEAD),
        "pieces": VOCABULARY.pieces,
    }
    (folder / "oracle.json").write_text(json.dumps(facts, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return paths


if __name__ == "__main__":
    for written in write_all(Path(sys.argv[1] if len(sys.argv) > 1 else "models")).values():
        print(f"{written.stat().st_size:>8} {written.name}")
