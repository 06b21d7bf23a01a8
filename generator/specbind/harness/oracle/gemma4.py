"""A target of the `gemma4` architecture and its assistant: MTP heads that have no memory of their own and look into the target's."""

from __future__ import annotations

import numpy as np

from specbind.harness.oracle.cycle import N_VOCAB, UNK, TokenMap
from specbind.harness.oracle.gguf_file import N_FF, Model, transformer
from specbind.harness.oracle.linear import (
    HEAD,
    NORM,
    PEAK,
    ROPE_BASE,
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
    sharp_head,
    zeros,
)

N_LAYERS = 2  # the assistant shares the last layer with a window and the last one without
WINDOW = 512
WIDE = 2 * WIDTH  # llama.cpp tells an assistant by a width that is not its target's
WIDE_NORM = float(np.sqrt(WIDE))
SHARPNESS = 5.0  # queries and keys are normalised and not divided by the square root of their size


def gemma4(table: TokenMap, *, window_on_last: bool = False) -> Model:
    """A second-order target: the last layer looks one position back and votes for NEXT of what it finds.

    `window_on_last` exchanges the kinds of the two layers, and then no assistant fits.
    """
    model = _transformer("gemma4")
    if window_on_last:
        model.metadata["attention.sliding_window_pattern"].reverse()
    # rows of the embedding are scaled by the square root of the width, as if normalised
    model.weights(token_embd=identity(), output=sharp_head(table), output_norm=ones(WIDTH))
    for i in range(N_LAYERS):
        votes = i == N_LAYERS - 1
        model.block(i, attn_q=query_back(1, halves=True), attn_k=constant_key(), attn_v=reads_norm(identity()))
        model.block(i, attn_output=reads_norm(matrix_of(table)), attn_k_norm=ones(HEAD))
        # the vote is normalised before it is added: its weight stands here
        _norms(model, i, WIDTH, vote=full(WIDTH, VOTE if votes else 0.0))
    return model


def gemma4_assistant(table: TokenMap, head: TokenMap) -> Model:
    """MTP heads for `gemma4`: NEXT of the hidden row's dominant token stands for the last token, and `head` gives the draft.

    Every layer has a task in the shared memory. The input votes heavily for UNK, and what the layers find one position
    back takes that vote away again; a layer that finds nothing leaves it, and then every draft is UNK.
    """
    model = _transformer("gemma4-assistant")
    model.metadata |= {
        "embedding_length": WIDE,
        "embedding_length_out": WIDTH,
        "nextn_predict_layers": N_LAYERS,
    }
    per_layer = 0.5  # weight of the normalised vote against UNK
    wrong = per_layer * WIDE_NORM * N_LAYERS
    from_token = zeros(WIDE, WIDTH)
    from_token[UNK] = wrong / NORM  # whatever the token
    from_hidden = zeros(WIDE, WIDTH)
    from_hidden[:WIDTH] = reads_norm(matrix_of(table), 3.0)
    out = zeros(N_VOCAB, WIDE)  # the head
    out[:, :WIDTH] = matrix_of(head) * (PEAK / WIDE_NORM)
    hidden = zeros(WIDTH, WIDE)  # of the next step
    hidden[:, :WIDTH] = identity() * (NORM / WIDE_NORM)
    against = zeros(WIDE, HEAD)
    against[UNK] = -1.0  # of every token that is found
    model.weights(token_embd=out, output_norm=ones(WIDE))
    model.tensors["nextn.post_projection.weight"] = hidden
    model.tensors["nextn.pre_projection.weight"] = np.concatenate([from_token, from_hidden], axis=1)
    # the input of a layer is any row: a query must not depend on it
    for i in range(N_LAYERS):
        model.block(i, attn_q=_constant_query(), attn_output=against)
        _norms(model, i, WIDE, vote=full(WIDE, per_layer))
        model.block(i, layer_output_scale=ones(1))
    return model


def _constant_query() -> Array:
    """Query matrix that selects the position before, for every row that the assistant's layers see.

    They see a positive combination of a token's direction and UNK's, so all rows of the matrix point the same way.
    """
    query = query_back(1, halves=True)
    return np.concatenate([query, query], axis=1)


def _transformer(arch: str) -> Model:
    model = transformer(arch, N_LAYERS)
    model.metadata |= {
        "attention.sliding_window": WINDOW,
        "attention.sliding_window_pattern": [i != N_LAYERS - 1 for i in range(N_LAYERS)],
        "attention.key_length_swa": HEAD,
        "attention.value_length_swa": HEAD,
        "rope.freq_base_swa": ROPE_BASE,
        "rope.dimension_count_swa": HEAD,
        "embedding_length_per_layer_input": 0,
    }
    model.weights(rope_freqs=ones(HEAD // 2))
    return model


def _norms(model: Model, i: int, width: int, *, vote: Array) -> None:
    """The norms of a block, with a feed-forward part that adds nothing."""
    model.block(i, attn_norm=ones(width), attn_q_norm=full(HEAD, SHARPNESS), post_attention_norm=vote)
    model.block(i, ffn_norm=ones(width), post_ffw_norm=ones(width))
    model.block(i, ffn_gate=zeros(N_FF, width), ffn_up=zeros(N_FF, width), ffn_down=zeros(width, N_FF))
