"""The network of tiny-mtp: a small causal language model with three chained heads for multi-token prediction.

It computes what llama.cpp computes for the architecture `mimo2` (norms, fused grouped-query attention, rotary positions on
halves, SwiGLU, a sliding window on some blocks), so that exported weights give the same numbers there.

A head at position p sees the token of p and a state, and predicts the token of p+1. The state is the trunk's last residual
of p-1 for the first head, and the state that the head before it had at p-1 for the others; at position 0 it is zero.

Which cells a head attends to matters more than anything else here. llama.cpp fills the cells of every head for tokens that
are settled from the trunk's residual, and only those of the present draft from the chain. So head k at p sees, in order:
positions up to p-k computed from the trunk ("stream 0"), then one cell each from streams 1 to k, up to p itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

NEVER = -1e30  # instead of minus infinity: a row that sees nothing stays finite


@dataclass(frozen=True)
class Config:
    n_vocab: int = 1536
    n_embd: int = 256
    n_head: int = 4
    n_head_kv: int = 2
    head_size: int = 64
    n_ff: int = 512
    n_layer: int = 5
    n_mtp: int = 3
    window: int = 128
    windowed: tuple[bool, ...] = (False, True, False, True, False, True, True, True)  # trunk, then heads
    rope_base: float = 10000.0
    eps: float = 1e-6
    n_ctx: int = 512


Angles = tuple[Tensor, Tensor]  # cosine and sine, each [positions, head_size / 2]


class Norm(nn.Module):
    """Root-mean-square norm, in single precision whatever comes in."""

    def __init__(self, n: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        scaled = x.float() * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + self.eps)
        out = scaled * self.weight
        return out.bfloat16() if torch.is_autocast_enabled("cpu") else out


def rotate(x: Tensor, angles: Angles) -> Tensor:
    """Rotary positions: the first half of a head with the second."""
    cos, sin = angles
    a, b = x.float().chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1).to(x.dtype)


def later(x: Tensor, n: int, fill: float = 0.0) -> Tensor:
    """`x` [..., positions, values], moved `n` positions on."""
    return functional.pad(x, (0, 0, n, 0), value=fill)[..., : x.shape[-2], :] if n else x


class Block(nn.Module):
    def __init__(self, c: Config, windowed: bool) -> None:
        super().__init__()
        self.c, self.windowed = c, windowed
        self.attn_norm, self.ffn_norm = Norm(c.n_embd, c.eps), Norm(c.n_embd, c.eps)
        self.attn_qkv = nn.Linear(c.n_embd, (c.n_head + 2 * c.n_head_kv) * c.head_size, bias=False)  # rows: queries, keys, values
        self.attn_output = nn.Linear(c.n_head * c.head_size, c.n_embd, bias=False)
        self.ffn_gate_up = nn.Linear(c.n_embd, 2 * c.n_ff, bias=False)  # rows: gate, up
        self.ffn_down = nn.Linear(c.n_ff, c.n_embd, bias=False)

    def queries_keys_values(self, x: Tensor, angles: Angles) -> tuple[Tensor, Tensor, Tensor]:
        """Each [batch, heads, positions, head_size]; keys and values repeated for their queries."""
        c = self.c
        y = self.attn_qkv(self.attn_norm(x)).unflatten(-1, (-1, c.head_size)).transpose(1, 2)
        q, k, v = y.split([c.n_head, c.n_head_kv, c.n_head_kv], 1)
        times = c.n_head // c.n_head_kv
        return rotate(q, angles), rotate(k, angles).repeat_interleave(times, 1), v.repeat_interleave(times, 1)

    def forward(self, streams: Sequence[Tensor], angles: Angles, mask: Tensor) -> Tensor:
        """The last of `streams` passes through the block; it attends to all of them, each in its place.

        `mask` [positions, positions] is what stream 0 adds to its scores.
        """
        made = [self.queries_keys_values(x, angles) for x in streams]
        q = made[-1][0] / math.sqrt(self.c.head_size)
        n = len(streams) - 1
        k0, v0 = made[0][1:]
        scores, values = q @ k0.transpose(-1, -2) + mask.to(q.dtype), []
        single = []  # the one cell that each later stream adds
        for j in range(1, n + 1):
            keys = later(made[j][1], n - j)
            score = (q * keys).sum(-1, keepdim=True)
            score[..., : n - j, :] = NEVER
            single.append(score)
            values.append(later(made[j][2], n - j))
        weights = torch.softmax(torch.cat([scores, *single], -1), -1)
        positions = k0.shape[-2]
        seen = weights[..., :positions] @ v0
        for j, v in enumerate(values):
            seen = seen + weights[..., positions + j, None] * v
        x = streams[-1] + self.attn_output(seen.transpose(1, 2).flatten(2))
        gate, up = self.ffn_gate_up(self.ffn_norm(x)).chunk(2, -1)
        return x + self.ffn_down(functional.silu(gate) * up)


class Head(nn.Module):
    """One step of the chain: token and state in, the next state out."""

    def __init__(self, c: Config, windowed: bool) -> None:
        super().__init__()
        self.enorm, self.hnorm, self.shared_head_norm = (Norm(c.n_embd, c.eps) for _ in range(3))
        self.eh_proj = nn.Linear(2 * c.n_embd, c.n_embd, bias=False)
        self.block = Block(c, windowed)

    def forward(self, embeddings: Tensor, states: Sequence[Tensor], angles: Angles, mask: Tensor) -> Tensor:
        e = self.enorm(embeddings)
        streams = [self.eh_proj(torch.cat([e, self.hnorm(s)], -1)) for s in states]
        return self.block(streams, angles, mask)


class TinyMtp(nn.Module):
    def __init__(self, c: Config) -> None:
        super().__init__()
        self.c = c
        self.token_embd = nn.Embedding(c.n_vocab, c.n_embd)  # also the output
        self.blk = nn.ModuleList(Block(c, c.windowed[i]) for i in range(c.n_layer))
        self.output_norm = Norm(c.n_embd, c.eps)
        self.mtp = nn.ModuleList(Head(c, c.windowed[c.n_layer + k]) for k in range(c.n_mtp))
        self.apply(initialise)
        for block in [*self.blk, *(head.block for head in self.mtp)]:
            for layer in (block.attn_output, block.ffn_down):
                nn.init.normal_(layer.weight, std=0.02 / math.sqrt(2 * c.n_layer))
        frequencies = c.rope_base ** (-torch.arange(0, c.head_size, 2).float() / c.head_size)
        turns = torch.outer(torch.arange(c.n_ctx).float(), frequencies)
        self.register_buffer("cos", turns.cos(), persistent=False)
        self.register_buffer("sin", turns.sin(), persistent=False)

    def mask(self, block: Block, n_streams: int, positions: int) -> Tensor:
        """Stream 0 ends `n_streams` - 1 positions back, and begins where the window does."""
        distance = torch.arange(positions)[:, None] - torch.arange(positions)[None]
        hidden = distance < n_streams - 1
        if block.windowed:
            hidden = hidden | (distance >= self.c.window)
        return torch.zeros(positions, positions).masked_fill(hidden, NEVER)

    def forward(self, tokens: Tensor, n_rows: int | None = None) -> tuple[Tensor, list[Tensor]]:
        """Logits of the trunk and of each head, all at position p for the token of p+1. Heads run on the first `n_rows` rows."""
        positions = tokens.shape[1]
        angles = (self.cos[:positions], self.sin[:positions])
        embeddings = self.token_embd(tokens)
        h = embeddings
        for block in self.blk:
            h = block([h], angles, self.mask(block, 1, positions))
        trunk = self.logits(self.output_norm(h))
        states, embeddings = [later(h[:n_rows], 1)], embeddings[:n_rows]
        heads = []
        for head in self.mtp:
            state = head(embeddings, states, angles, self.mask(head.block, len(states), positions))
            heads.append(self.logits(head.shared_head_norm(state)))
            states.append(later(state, 1))
        return trunk, heads

    def logits(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.token_embd.weight)


def initialise(module: nn.Module) -> None:
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
