"""The n-gram strategies as plain arithmetic on the history, written from what they are said to do."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class NgramSimple:
    """Looks for the latest earlier place of the last `n` tokens and proposes up to `m` tokens that followed there."""

    n: int
    m: int

    def draft(self, history: Sequence[int], last: int, n_max: int) -> list[int]:
        size = len(history)
        if size <= self.n + self.m + 1:
            return []
        key = [*history[size - self.n + 1 :], last]
        for at in range(size - self.n - 1, 0, -1):
            if list(history[at : at + self.n]) == key:
                found = list(history[at + self.n : at + self.n + self.m])
                return found if len(found) >= self.n else []
        return []

    def verified(self, n_accepted: int) -> None:
        pass


@dataclass
class NgramMap:
    """Remembers for each key how much of its last draft was right, and proposes no more than that.

    With `values`, it counts the continuations of a key and proposes the most frequent one if it is at least twice as
    frequent as the others together. Places whose key or value would cross the end of the prompt are not looked at.
    """

    n: int
    m: int
    values: bool = False
    _allowed: dict[tuple[int, ...], dict[tuple[int, ...], int]] = field(default_factory=lambda: defaultdict(dict))
    _last: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    _begin: int | None = None  # length of the history when the generation began

    def draft(self, history: Sequence[int], last: int, n_max: int) -> list[int]:
        self._last = None
        size = len(history)
        self._begin = size if self._begin is None else self._begin
        if size < 2 * self.n + self.m:
            return []
        key = (*history[size - self.n + 1 :], last)
        span = self.n + self.m + 1  # a place is only used where a whole value follows it
        usable = [*range(1, self._begin - span + 1), *range(self._begin + 1, size - span + 1)]
        places = [at for at in usable if tuple(history[at : at + self.n]) == key]
        if not places:
            return []
        followers = Counter(tuple(history[at + self.n : at + self.n + self.m]) for at in places)
        value, count = followers.most_common(1)[0]
        if self.values and count < 2 * (followers.total() - count):
            return []
        slot = value if self.values else ()
        allowed = self._allowed[key].get(slot, self.m)
        self._last = (key, slot)
        return list(value[:allowed])

    def verified(self, n_accepted: int) -> None:
        if self._last is not None:
            key, slot = self._last
            self._allowed[key][slot] = n_accepted


@dataclass
class NgramMod:
    """One table from the last `n` tokens to the next one, filled from the prompt and then in steps of 32 tokens."""

    n: int
    n_min: int
    n_max: int
    _table: dict[tuple[int, ...], int] = field(default_factory=dict)
    _filled: int | None = None

    def draft(self, history: Sequence[int], last: int, n_max: int) -> list[int]:
        size = len(history)
        if self._filled is None:
            self._fill(history, 0)
            self._filled = max(0, size - self.n) if size >= self.n else 0
        if size < self.n:
            return []
        if self._filled + 32 < size:
            self._fill(history, self._filled)
            self._filled = size - self.n
        window = [*history[size - self.n + 1 :], last]
        tokens: list[int] = []
        while len(tokens) < self.n_max and (found := self._table.get(tuple(window[-self.n :]))) is not None:
            tokens.append(found)
            window.append(found)
        return tokens if len(tokens) >= self.n_min else []

    def _fill(self, history: Sequence[int], start: int) -> None:
        for at in range(start, len(history) - self.n):
            self._table[tuple(history[at : at + self.n])] = history[at + self.n]

    def verified(self, n_accepted: int) -> None:
        pass


@dataclass
class NgramCache:
    """Counts what followed the last one to four tokens; proposes a clear favourite, the longest context first.

    New tokens are counted in the stretches in which they arrive, so that a count never spans two of them.
    """

    longest: int = 4
    at_most: int = 8
    # samples and share (in percent) that the favourite needs, by the number of tokens before it
    samples: tuple[int, ...] = (2, 2, 1, 1)
    share: tuple[int, ...] = (66, 50, 50, 50)
    _counts: dict[tuple[int, ...], Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    _seen: int = 0

    def draft(self, history: Sequence[int], last: int, n_max: int) -> list[int]:
        tokens = [*history, last]
        if self._seen < len(tokens):
            self._count(tokens[self._seen :])
            self._seen = len(tokens)
        if len(tokens) < 2:
            return []
        drafted: list[int] = []
        while len(drafted) < self.at_most and (favourite := self._favourite([*tokens, *drafted])) is not None:
            drafted.append(favourite)
        return drafted

    def _count(self, stretch: Sequence[int]) -> None:
        for size in range(1, self.longest + 1):
            for at in range(size, len(stretch)):
                self._counts[tuple(stretch[at - size : at])][stretch[at]] += 1

    def _favourite(self, tokens: Sequence[int]) -> int | None:
        for size in range(self.longest, 0, -1):
            counts = self._counts.get(tuple(tokens[len(tokens) - size :]))
            if counts:
                token, count = counts.most_common(1)[0]
                if counts.total() >= self.samples[size - 1] and 100 * count >= self.share[size - 1] * counts.total():
                    return token
        return None

    def verified(self, n_accepted: int) -> None:
        pass
