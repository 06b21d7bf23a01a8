"""The arithmetic that every oracle model is built from: one cycle of tokens, and known deviations from it.

NEXT is a cycle over all ordinary tokens. A target continues along it; a draft model follows it except on a known set
of tokens, where it skips one. What a model must answer is then a matter of counting, and nothing has to be measured.

This module knows numbers and text only. It imports neither numpy nor a model format, so expectations stay cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

# Token ids of the control tokens. Ordinary tokens follow.
BOS, EOS, MASK, UNK = range(4)
CONTROL = ("<bos>", "<eos>", "<mask>", "<unk>")

# Text units in the order in which the cycle visits them, before shuffling. A unit of several bytes becomes several
# tokens that follow each other in the cycle, so that text from the cycle is valid UTF-8 while its tokens are not.
_UNITS = (*"abcdefghijklmnopqrstuvwxyz", *"ABCDEFGHIJKLMNO", *"01234", " ", "\n", ".", ",", "!", "é", "€", "😀")
_STRIDE, _START = 23, 5  # walks all units, since the stride has no factor in common with their number

N_VOCAB = 64

TokenMap = tuple[int, ...]
"""A function on tokens as a table: `map[token]`."""


def _walk() -> tuple[int, ...]:
    """Bytes of the units, one token each, in the order of the cycle."""
    units = [_UNITS[(_START + _STRIDE * i) % len(_UNITS)] for i in range(len(_UNITS))]
    return tuple(byte for unit in units for byte in unit.encode())


@dataclass(frozen=True)
class Vocabulary:
    """The control tokens, then one token per byte in use, in ascending order of the bytes."""

    token_bytes: tuple[int, ...]  # byte of each ordinary token

    @cached_property
    def token_of_byte(self) -> dict[int, int]:
        return {byte: len(CONTROL) + i for i, byte in enumerate(self.token_bytes)}

    @property
    def pieces(self) -> list[str]:
        """Spelling of every token as a byte-level BPE vocabulary writes it."""
        return [*CONTROL, *(printable(byte) for byte in self.token_bytes)]

    def encode(self, text: str) -> list[int]:
        """Tokens of a text whose bytes are all in the vocabulary; KeyError otherwise."""
        return [self.token_of_byte[byte] for byte in text.encode()]

    def decode(self, tokens: Sequence[int]) -> bytes:
        """Bytes of ordinary tokens; control tokens have none."""
        return bytes(self.token_bytes[t - len(CONTROL)] for t in tokens if t >= len(CONTROL))


def printable(byte: int) -> str:
    """How byte-level BPE writes a byte: itself where it is a visible Latin-1 character, else a character from U+0100 on."""
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    if byte in visible:
        return chr(byte)
    hidden = [b for b in range(0x100) if b not in visible]
    return chr(0x100 + hidden.index(byte))


VOCABULARY = Vocabulary(tuple(sorted(_walk())))


def _cycle_order() -> tuple[int, ...]:
    return tuple(VOCABULARY.token_of_byte[byte] for byte in _walk())


CYCLE = _cycle_order()
"""Ordinary tokens in the order in which NEXT visits them."""


def cyclic_map(order: Sequence[int]) -> TokenMap:
    """NEXT for a cyclic order: each token leads to the one after it, and control token i leads to the i-th of the order."""
    table = [order[i] if i < len(CONTROL) else -1 for i in range(len(CONTROL) + len(order))]
    for here, there in zip(order, [*order[1:], order[0]], strict=True):
        table[here] = there
    return tuple(table)


NEXT = cyclic_map(CYCLE)


def after(table: TokenMap, token: int, n: int = 1) -> int:
    """`table` applied `n` times."""
    for _ in range(n):
        token = table[token]
    return token


def with_misses(table: TokenMap, misses: Collection[int]) -> TokenMap:
    """The map of a draft that is wrong on `misses`: there it skips a token."""
    return tuple(after(table, t, 2) if t in misses else to for t, to in enumerate(table))


def redirected(table: TokenMap, token: int, to: int) -> TokenMap:
    """`table` with one token leading elsewhere."""
    return tuple(to if t == token else old for t, old in enumerate(table))


def _every(step: int, offset: int) -> frozenset[int]:
    return frozenset(t for t in CYCLE if t % step == offset)


# Where drafts are wrong. Three sets, so that chained heads can be told apart; the last head makes no mistake.
MISSES = _every(7, 3)
MISSES_SECOND_HEAD = _every(5, 1)

# Where the target that ends leads to end-of-sequence: half-way round the cycle.
EOS_AFTER = CYCLE[len(CYCLE) // 2]
NEXT_EOS = redirected(NEXT, EOS_AFTER, EOS)

# Colours the cycle like a chessboard: neighbours differ. The hybrid target keeps one memory slot per colour.
COLOUR: TokenMap = tuple(CYCLE.index(t) % 2 if t in CYCLE else (CYCLE.index(NEXT[t]) + 1) % 2 for t in range(N_VOCAB))


def run(table: TokenMap, start: int, n: int) -> list[int]:
    """`n` tokens along the map, beginning with `start`: a consistent prompt."""
    tokens = [start]
    while len(tokens) < n:
        tokens.append(table[tokens[-1]])
    return tokens[:n]


# --- what targets answer ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """A target whose last hidden row is dominated by one token, and whose answer is NEXT of that token.

    `dominant` maps the tokens evaluated so far (at least one) to that token.
    """

    table: TokenMap
    dominant: Callable[[TokenMap, Sequence[int]], int]

    def hidden(self, tokens: Sequence[int]) -> int:
        return self.dominant(self.table, tokens)

    def next_token(self, tokens: Sequence[int]) -> int:
        return self.table[self.hidden(tokens)]


def by_last(table: TokenMap, tokens: Sequence[int]) -> int:
    """First order: the last token alone."""
    return tokens[-1]


def by_attention(table: TokenMap, tokens: Sequence[int]) -> int:
    """Second order: NEXT of the token before the last, found by attention. A lone token finds itself."""
    return table[tokens[-2] if len(tokens) > 1 else tokens[0]]


def by_convolution(table: TokenMap, tokens: Sequence[int]) -> int:
    """Second order through a convolution's memory, which is empty before the first token."""
    return table[tokens[-2]] if len(tokens) > 1 else tokens[0]


def by_state(table: TokenMap, tokens: Sequence[int]) -> int:
    """Second order through a recurrent state: NEXT of the latest token whose colour differs from the last one's."""
    for token in reversed(tokens):
        if COLOUR[token] != COLOUR[tokens[-1]]:
            return table[token]
    return tokens[-1]
