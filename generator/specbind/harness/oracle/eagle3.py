"""Draft models of the `eagle3` architecture: they read hidden rows of three layers of the target."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from specbind.harness.oracle.cycle import TokenMap
from specbind.harness.oracle.gguf_file import Model, plain_norms, transformer
from specbind.harness.oracle.linear import (
    HEAD,
    WIDTH,
    identity,
    matrix_of,
    ones,
    reads_norm,
    sharp_head,
    zeros,
)

GATE = 8.0


def eagle3(table: TokenMap, head: TokenMap | None, target_layers: Sequence[int]) -> Model:
    """A draft whose next token depends on the target's rows only, so that a row of another position shows.

    Of the three layers it takes the first. Its feed-forward part replaces the row's token by NEXT of it, which makes
    the row the right input for the next step. With `head` None embeddings and output come from the target.
    """
    model = transformer("eagle3", 1, n_ff=WIDTH)
    model.metadata |= {"target_layers": list(target_layers), "target_hidden_size": WIDTH}
    unread = [zeros(WIDTH, WIDTH)] * (len(target_layers) - 1)
    model.weights(fc=np.concatenate([identity(), *unread], axis=1), output_norm=ones(WIDTH))
    if head is not None:
        model.weights(token_embd=identity(), output=sharp_head(head))
    blind = zeros(HEAD, 2 * WIDTH)  # attention sees token and row side by side and adds nothing
    step = matrix_of(table) - identity()
    model.block(
        0,
        attn_q=blind,
        attn_k=blind,
        attn_v=blind,
        attn_output=zeros(WIDTH, HEAD),
        ffn_gate=reads_norm(ones(WIDTH, WIDTH), GATE),
        ffn_up=reads_norm(step),
        ffn_down=identity() * np.float32((1 + np.exp(-GATE)) / GATE),  # undoes silu(GATE)
        **plain_norms("attn_norm", "attn_norm_2", "ffn_norm"),
    )
    return model
