"""Targets of the `mimo2` architecture: sliding windows, and multi-token-prediction (MTP) heads behind the trunk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from specbind.harness.oracle.cycle import TokenMap
from specbind.harness.oracle.gguf_file import N_FF, Model, idle_ffn, plain_norms, transformer
from specbind.harness.oracle.linear import (
    ROPE_BASE,
    VOTE,
    WIDTH,
    Array,
    identity,
    matrix_of,
    ones,
    reads_norm,
    sharp_head,
    zeros,
)
from specbind.harness.oracle.llama import previous_token_attention

Part = Literal["all", "trunk", "heads"]
Source = Literal["hidden", "token"]


def mimo2(
    table: TokenMap,
    heads: Sequence[TokenMap] = (),
    *,
    source: Source = "hidden",
    part: Part = "all",
    n_layers: int = 1,
    window: int = 512,
    window_on_last: bool = False,
) -> Model:
    """A second-order target with one MTP head per map in `heads`.

    `part` leaves out the heads or the trunk, for pairs in which the heads come as a file of their own. `window_on_last`
    gives the voting layer the sliding window, so that a wrong window shows in the answer.
    """
    n_blocks = n_layers + len(heads)
    model = transformer("mimo2", n_blocks)
    model.metadata |= {
        "expert_feed_forward_length": N_FF,
        "attention.sliding_window": window,
        # llama.cpp wants a window somewhere; on every other block it is wide enough to change nothing
        "attention.sliding_window_pattern": [i == n_layers - 1 if window_on_last else i % 2 == 1 for i in range(n_blocks)],
        "rope.freq_base_swa": ROPE_BASE,
    }
    if heads:
        model.metadata["nextn_predict_layers"] = len(heads)
    model.weights(token_embd=identity(), output=sharp_head(table), output_norm=ones(WIDTH))
    if part != "heads":
        for i in range(n_layers):
            _block(model, i, table, VOTE if i == n_layers - 1 else 0.0)
    if part != "trunk":
        for i, head in enumerate(heads, start=n_layers):
            _block(model, i, table, 0.0)
            model.block(i, **mtp_head(table, head, source))
    return model


def _block(model: Model, i: int, table: TokenMap, vote: float) -> None:
    attention = previous_token_attention(table, vote, halves=True)
    qkv = np.concatenate([attention[name] for name in ("attn_q", "attn_k", "attn_v")])
    model.block(i, attn_qkv=qkv, attn_output=attention["attn_output"])
    model.block(i, **plain_norms("attn_norm", "ffn_norm"), **idle_ffn())


def mtp_head(table: TokenMap, head: TokenMap, source: Source) -> dict[str, Array]:
    """What an MTP block has beyond a decoder block.

    The projection sees the token's embedding beside the hidden row of the position before it. `hidden` uses that row
    alone: NEXT of its dominant token stands for the token, so a row that belongs to another position shows in the
    draft. `token` ignores it.
    """
    from_token, from_hidden = (zeros(WIDTH, WIDTH), matrix_of(table)) if source == "hidden" else (identity(), zeros(WIDTH, WIDTH))
    return {
        "nextn.eh_proj": reads_norm(np.concatenate([from_token, from_hidden], axis=1)),
        "nextn.shared_head_head": sharp_head(head),
        **plain_norms("nextn.enorm", "nextn.hnorm", "nextn.shared_head_norm"),
    }
