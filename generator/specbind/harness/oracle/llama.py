"""Targets and draft models of the `llama` architecture: attention only, no extras."""

from __future__ import annotations

from specbind.harness.oracle.cycle import N_VOCAB, TokenMap
from specbind.harness.oracle.gguf_file import Model, idle_ffn, plain_norms, transformer
from specbind.harness.oracle.linear import (
    PEAK,
    VOTE,
    WIDTH,
    Array,
    constant_key,
    identity,
    matrix_of,
    ones,
    query_back,
    reads_norm,
    sharp_head,
    soft_head,
    zeros,
)


def llama(
    table: TokenMap, *, n_layers: int = 1, vote: float = VOTE, soft: bool = False, n_vocab: int = N_VOCAB, peak: float = PEAK
) -> Model:
    """A model whose last layer looks one position back and votes for NEXT of what it finds there.

    With a `vote` of 0 the answer depends on the last token alone. Only the last layer votes, so that the inputs of all
    layers, which EAGLE-3 and DFlash read, are exactly the tokens' embeddings. Tokens beyond our vocabulary get a zero
    row in both ends and are never chosen.
    """
    model = transformer("llama", n_layers, n_vocab=n_vocab)
    head = soft_head(table) if soft else sharp_head(table, peak)
    model.weights(token_embd=padded(identity(), n_vocab), output=padded(head, n_vocab), output_norm=ones(WIDTH))
    for i in range(n_layers):
        last = i == n_layers - 1
        model.block(i, **previous_token_attention(table, vote if last else 0.0, halves=False))
        model.block(i, **plain_norms("attn_norm", "ffn_norm"), **idle_ffn())
    return model


def previous_token_attention(table: TokenMap, vote: float, *, halves: bool) -> dict[str, Array]:
    """Attention that adds `vote` times the embedding of NEXT of the token one position back."""
    return {
        "attn_q": query_back(1, halves=halves),
        "attn_k": constant_key(),
        "attn_v": reads_norm(identity()),
        "attn_output": vote * matrix_of(table),
    }


def padded(matrix: Array, n_rows: int) -> Array:
    """`matrix` with zero rows below."""
    out = zeros(n_rows, matrix.shape[1])
    out[: matrix.shape[0]] = matrix
    return out
