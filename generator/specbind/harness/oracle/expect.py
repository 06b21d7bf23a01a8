"""Exact rounds of speculation, by counting: what is drafted, what is accepted, what comes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from specbind.harness.oracle.cycle import TokenMap

NextToken = Callable[[Sequence[int]], int]
"""What the target says after these tokens."""


class Drafter(Protocol):
    """A strategy as arithmetic. `history` is everything but the last token, which is `last`."""

    def draft(self, history: Sequence[int], last: int, n_max: int) -> list[int]: ...

    def verified(self, n_accepted: int) -> None:
        """The target agreed with so many tokens of the last draft."""


@dataclass(frozen=True)
class ModelDrafter:
    """A draft model that knows the last token: step k follows `maps[k]`, the last map for all further steps.

    It stops behind a token of `unsure`, where it doubts the next one more than `p_min` allows.
    """

    maps: tuple[TokenMap, ...]
    n_max: int
    unsure: frozenset[int] = frozenset()

    def draft(self, history: Sequence[int], last: int, n_max: int) -> list[int]:
        tokens: list[int] = []
        for step in range(min(n_max, self.n_max)):
            if last in self.unsure:
                break
            last = self.maps[min(step, len(self.maps) - 1)][last]
            tokens.append(last)
        return tokens

    def verified(self, n_accepted: int) -> None:
        pass


@dataclass(frozen=True)
class Expected:
    """A whole generation. `rounds` are (drafted, accepted) pairs; rounds without a draft count."""

    tokens: list[int]
    rounds: list[tuple[int, int]]

    @property
    def drafted(self) -> int:
        return sum(d for d, _ in self.rounds)

    @property
    def accepted(self) -> int:
        return sum(a for _, a in self.rounds)


def generation(
    next_token: NextToken,
    drafters: Sequence[Drafter],
    prompt: Sequence[int],
    n_predict: int,
    *,
    n_ctx: int = 1 << 30,
    n_draft_limit: int = 1 << 30,
    end_tokens: frozenset[int] = frozenset(),
) -> Expected:
    """Rounds of the loop on one sequence. The first drafter with a draft is the one that is verified.

    A draft has room for what may still be emitted less one, and for the context behind the tokens that are evaluated.
    """
    tokens = list(prompt)
    out: list[int] = []
    rounds: list[tuple[int, int]] = []
    while len(out) < n_predict and len(tokens) <= n_ctx:
        history, last = tokens[:-1], tokens[-1]
        budget = min(n_draft_limit, n_predict - len(out) - 1, n_ctx - len(history) - 1)
        draft: list[int] = []
        by: Drafter | None = None
        for drafter in drafters if budget > 0 else ():
            if draft := drafter.draft(history, last, budget)[:budget]:
                by = drafter
                break
        accepted = 0
        emitted: list[int] = []
        while True:
            emitted.append(next_token(tokens + emitted))
            agrees = len(emitted) <= len(draft) and emitted[-1] == draft[len(emitted) - 1]
            accepted += agrees
            if not agrees or emitted[-1] in end_tokens:
                break
        if by is not None:
            by.verified(accepted)
        rounds.append((len(draft), accepted))
        tokens += emitted
        out += emitted
        if emitted[-1] in end_tokens:
            break
    return Expected(out, rounds)
