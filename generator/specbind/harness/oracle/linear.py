"""Matrices that make a transformer do exact arithmetic on tokens.

Embeddings are one-hot, so the width equals the vocabulary and every function on tokens is a 0/1 matrix. Three facts
carry all the constructions:

- An RMS norm scales a one-hot row by `NORM`; matrices that read a normalised row divide by it.
- Rotary embedding turns a vector by an angle per position. A query that is pre-turned by -d meets a constant key at
  full strength exactly d positions back, and a large factor makes the softmax as good as a selection.
- An output row that holds several one-hot votes is decided by the heaviest; argmax needs no exact weights.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from specbind.harness.oracle.cycle import N_VOCAB, TokenMap, after

Array = npt.NDArray[np.float32]

WIDTH = N_VOCAB
HEAD = 64  # size of an attention head
NORM = float(np.sqrt(WIDTH))
ROPE_BASE = 10.0  # a small base separates neighbouring positions clearly
SHARPNESS = 40.0  # of the attention: the runner-up position keeps less than 1e-14
PEAK = 20.0  # logit of the winning token, all others being 0
VOTE = 4.0  # weight of the vote against the token's own embedding


def full(shape: int | tuple[int, ...], value: float) -> Array:
    return np.full(shape, value, np.float32)


def zeros(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


def ones(*shape: int) -> Array:
    return np.ones(shape, np.float32)


def identity() -> Array:
    return np.eye(WIDTH, dtype=np.float32)


def matrix_of(table: TokenMap) -> Array:
    """The token map as a matrix: column t holds a 1 in row `table[t]`."""
    matrix = zeros(N_VOCAB, N_VOCAB)
    matrix[list(table), np.arange(N_VOCAB)] = 1
    return matrix


def reads_norm(matrix: Array, gain: float = 1.0) -> Array:
    """`matrix` for a row that went through an RMS norm."""
    return (matrix * (gain / NORM)).astype(np.float32)


def sharp_head(table: TokenMap, peak: float = PEAK) -> Array:
    """Output matrix: NEXT of the dominant token gets `peak`."""
    return reads_norm(matrix_of(table), peak)


def soft_head(table: TokenMap, peak: float = 6.0, decay: float = 0.6) -> Array:
    """Output matrix for sampling: logits fall off along the cycle, so that no two candidates tie.

    With the defaults the best token has about 0.79 of the probability.
    """
    columns = zeros(N_VOCAB, N_VOCAB)
    for token in range(N_VOCAB):
        for distance in range(N_VOCAB - 4):
            columns[after(table, token, 1 + distance), token] += peak * decay**distance
    return reads_norm(columns)


def turned(vector: Array, positions: int, *, halves: bool) -> Array:
    """`vector` after the rotary embedding of `positions`. `halves` pairs element i with i + n/2, else i with i + 1."""
    n = vector.shape[-1]
    angle = ROPE_BASE ** (-2.0 * np.arange(n // 2) / n) * positions
    first, second = (slice(0, n // 2), slice(n // 2, n)) if halves else (slice(0, n, 2), slice(1, n, 2))
    x, y = vector[first].astype(np.float64), vector[second].astype(np.float64)
    out = np.empty(n)
    out[first] = x * np.cos(angle) - y * np.sin(angle)
    out[second] = x * np.sin(angle) + y * np.cos(angle)
    return out.astype(np.float32)


def constant_key() -> Array:
    """Key matrix: the same key for every one-hot row."""
    return reads_norm(ones(HEAD, WIDTH))


def query_back(distance: int, *, halves: bool, sharpness: float = SHARPNESS) -> Array:
    """Query matrix that, with `constant_key`, selects the position `distance` back."""
    return reads_norm(np.outer(turned(ones(HEAD), -distance, halves=halves), ones(WIDTH)).astype(np.float32), sharpness)
