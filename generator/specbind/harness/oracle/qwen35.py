"""Hybrid targets of the `qwen35` architecture: gated delta nets with recurrent memory, then an attention layer.

The delta net keeps two things per sequence: the last inputs of a short convolution, and a matrix that a delta rule
updates. Either can carry the vote for the token before the last one, so a roll-back that forgets one of them shows.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from specbind.harness.oracle.cycle import COLOUR, TokenMap
from specbind.harness.oracle.gguf_file import Model, idle_ffn, plain_norms, transformer
from specbind.harness.oracle.linear import (
    HEAD,
    VOTE,
    WIDTH,
    Array,
    constant_key,
    full,
    identity,
    matrix_of,
    ones,
    reads_norm,
    sharp_head,
    zeros,
)
from specbind.harness.oracle.mimo2 import mtp_head

Memory = Literal["convolution", "state"]

N_TAPS = 4  # of the convolution; the last one is the present token
N_HEADS, HEAD_SIZE = 2, 32  # of the delta net: together the width, so each head carries half of a one-hot row
GATE = 4.0
OPEN = 10.0  # a pre-activation at which a sigmoid is 1 for all purposes


def qwen35(table: TokenMap, head: TokenMap | None = None, *, n_heads: int = 1, memory: Memory = "convolution") -> Model:
    """A second-order target with one recurrent and one attention layer, and `n_heads` MTP heads if `head` is given."""
    n_layers = 2
    heads = range(n_layers, n_layers + n_heads if head is not None else n_layers)
    model = transformer("qwen35", n_layers + len(heads))
    model.metadata |= {
        "rope.dimension_sections": [8, 12, 12, 0],
        "ssm.conv_kernel": N_TAPS,
        "ssm.inner_size": N_HEADS * HEAD_SIZE,
        "ssm.state_size": HEAD_SIZE,
        "ssm.time_step_rank": N_HEADS,
        "ssm.group_count": N_HEADS,
        "full_attention_interval": n_layers,
    }
    model.weights(token_embd=identity(), output=sharp_head(table), output_norm=ones(WIDTH))
    _delta_net(model, 0, table, memory)
    model.block(1, **_idle_attention())
    for i in range(n_layers):
        model.block(i, **plain_norms("attn_norm", "post_attention_norm"), **idle_ffn())
    if head is not None:
        model.metadata["nextn_predict_layers"] = len(heads)
        for i in heads:
            model.block(i, **_idle_attention(), **mtp_head(table, head, "hidden"))
            model.block(i, **plain_norms("attn_norm", "post_attention_norm"), **idle_ffn())
    return model


def _delta_net(model: Model, i: int, table: TokenMap, memory: Memory) -> None:
    qkv, taps, decay = _by_convolution() if memory == "convolution" else _by_state()
    # the gated norm makes the head's one-hot value sqrt(HEAD_SIZE) long and multiplies it by silu(GATE)
    length = np.sqrt(HEAD_SIZE) * GATE / (1 + np.exp(-GATE))
    model.block(
        i,
        attn_qkv=qkv,
        attn_gate=reads_norm(ones(WIDTH, WIDTH), GATE),
        ssm_conv1d=taps,
        ssm_beta=full((N_HEADS, WIDTH), OPEN),  # write strength 1: a new value replaces the old one
        ssm_alpha=zeros(N_HEADS, WIDTH),
        ssm_norm=ones(HEAD_SIZE),
        ssm_out=(VOTE / length * matrix_of(table)).astype(np.float32),
    )
    model.tensors[f"blk.{i}.ssm_dt.bias"] = full(N_HEADS, OPEN)
    model.tensors[f"blk.{i}.ssm_a"] = full(N_HEADS, decay)


def _by_convolution() -> tuple[Array, Array, float]:
    """Constant key and query; the value is the token before. The matrix forgets everything at once."""
    constant = reads_norm(ones(WIDTH, WIDTH))
    qkv = np.concatenate([constant, constant, reads_norm(identity(), 8.0)])
    return qkv, _taps(value_back=1), -OPEN


def _by_state() -> tuple[Array, Array, float]:
    """Key and query choose a slot by the token's colour: it is written under its own and reads the other one.

    The matrix never decays and the convolution passes the present token only, so what is read was written before:
    the latest value of the other colour, which on the cycle is the token before.
    """
    own, other = zeros(HEAD_SIZE, WIDTH), zeros(HEAD_SIZE, WIDTH)
    for token, colour in enumerate(COLOUR):
        own[colour, token] = 8.0
        other[1 - colour, token] = 8.0
    slots = [np.concatenate([reads_norm(m)] * N_HEADS) for m in (other, own)]
    return np.concatenate([*slots, reads_norm(identity(), 8.0)]), _taps(value_back=0), 0.0


def _taps(value_back: int) -> Array:
    """Convolution that passes query and key of the present token, and the value of the one `value_back` before."""
    taps = zeros(3 * WIDTH, N_TAPS)
    taps[: 2 * WIDTH, N_TAPS - 1] = 1
    taps[2 * WIDTH :, N_TAPS - 1 - value_back] = 1
    return taps


def _idle_attention() -> dict[str, Array]:
    """Attention that adds nothing. The query comes with a gate of the same size."""
    return {
        "attn_q": zeros(2 * HEAD, WIDTH),
        "attn_k": constant_key(),
        "attn_v": reads_norm(identity()),
        "attn_output": zeros(WIDTH, HEAD),
        "attn_q_norm": ones(HEAD),
        "attn_k_norm": ones(HEAD),
    }
