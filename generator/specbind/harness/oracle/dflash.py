"""Draft models of the `dflash` architecture: DFlash and DSpark fill a block of masked slots in one pass."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from specbind.harness.oracle.cycle import MASK, N_VOCAB, TokenMap, after
from specbind.harness.oracle.gguf_file import Model, idle_ffn, plain_norms, transformer
from specbind.harness.oracle.linear import (
    HEAD,
    PEAK,
    SHARPNESS,
    VOTE,
    WIDTH,
    Array,
    constant_key,
    full,
    identity,
    matrix_of,
    ones,
    query_back,
    reads_norm,
    zeros,
)

N_HEADS = 6  # each looks one position further back than the one before it
BLOCK = 4


def dflash(table: TokenMap, misses: Collection[int], target_layers: Sequence[int]) -> Model:
    """DFlash: slot i (from 1) drafts the i-th token after the last one.

    Head h looks h + 1 back and votes for NEXT applied h + 1 times; masked slots are invisible to the values, so a slot
    is decided by committed tokens alone: by rows that the target injected and by the last token. The head skips a
    token where the draft is to miss.
    """
    model = _block_draft(table, target_layers, nearest=1)
    skipped = {table[t] for t in misses}
    output = tuple(table[t] if t in skipped else t for t in range(N_VOCAB))
    model.weights(output=_unmasked_head(output))
    return model


def dspark(
    table: TokenMap,
    misses: Collection[int],
    target_layers: Sequence[int],
    *,
    confidence: bool = True,
    unsure: Collection[int] = (),
) -> Model:
    """DSpark: slot i (from 0) drafts the token i + 1 after the last one, and a Markov head corrects it.

    The block alone makes no mistake. The Markov head, which sees the token drafted before, outweighs it after a token
    of `misses`. The confidence head is sure (0.99) except after a token of `unsure` (0.007).
    """
    model = _block_draft(table, target_layers, nearest=0)
    model.weights(
        output=_unmasked_head(tuple(range(N_VOCAB))),
        markov_w1=identity(),
        markov_w2=_markov(table, misses),
    )
    if confidence:
        doubt = zeros(1, WIDTH + N_VOCAB)
        doubt[0, [WIDTH + t for t in unsure]] = -10
        model.weights(conf_proj=doubt)
        model.tensors["conf_proj.bias"] = full(1, 5.0)
    else:
        model.metadata["has_confidence_head"] = False
    return model


def _block_draft(table: TokenMap, target_layers: Sequence[int], *, nearest: int) -> Model:
    """What both share. `nearest` is how far back the first head looks from a slot."""
    model = transformer("dflash", 1, n_head=N_HEADS)
    model.metadata |= {"target_layers": list(target_layers), "block_size": BLOCK}
    unread = [zeros(WIDTH, WIDTH)] * (len(target_layers) - 1)
    model.weights(
        fc=np.concatenate([identity(), *unread], axis=1),
        token_embd=identity(),
        output_norm=ones(WIDTH),
    )
    model.tensors["enc.output_norm.weight"] = ones(WIDTH)
    visible = identity()
    visible[:, MASK] = 0
    queries = [query_back(h + nearest, halves=True, sharpness=1.0) for h in range(N_HEADS)]
    votes = [matrix_of(tuple(after(table, t, h + 1) for t in range(N_VOCAB))) for h in range(N_HEADS)]
    model.block(
        0,
        attn_q=np.concatenate(queries),
        attn_k=constant_key(),
        attn_v=reads_norm(visible, VOTE),
        attn_output=np.concatenate(votes, axis=1),
        attn_q_norm=full(HEAD, SHARPNESS),  # queries and keys are normalised, so the sharpness has its place here
        attn_k_norm=ones(HEAD),
        **plain_norms("attn_norm", "ffn_norm"),
        **idle_ffn(),
    )
    return model


def _unmasked_head(output: TokenMap) -> Array:
    """Output matrix that does not look at the slot's own mask."""
    matrix = reads_norm(matrix_of(output), PEAK)
    matrix[:, MASK] = 0
    return matrix


def _markov(table: TokenMap, misses: Collection[int]) -> Array:
    """Bias by the previous token: twice the block's own weight for skipping a token after one of `misses`."""
    bias = zeros(N_VOCAB, N_VOCAB)
    for token in misses:
        bias[after(table, token, 2), token] = 2 * PEAK
    return bias
