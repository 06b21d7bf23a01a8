"""What a comparison says: one result object, from which every report is made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from specbind.spec.model import NOWHERE, Span


class Verdict(IntEnum):
    """What a change does to code built before it, from harmless to worst; the worst of all changes is the total."""

    NONE = 0  # nothing that code can see, such as documentation
    ADDITIVE = 1  # new things; old sources and old binaries go on
    SOURCE = 2  # old binaries go on, old sources may not compile
    BINARY = 3  # old binaries crash or fail to load
    MEANING = 4  # everything compiles and links, and does something else

    @property
    def label(self) -> str:
        return ("none", "additive", "source break", "binary break", "meaning break")[self]


@dataclass(frozen=True, slots=True)
class Waiver:
    """A break that somebody answers for, until a day."""

    rule: str
    item: str
    reason: str
    owner: str
    expires: str  # ISO date, the last day on which it holds
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Finding:
    """One change. `item` is its path in the ABI, such as `struct params.n_threads` or `function seq_copy(n_max)`.

    `old` and `new` are the two sides as a reader would write them; empty when there is none. `span` is in the new side,
    or in the old one when the item is gone. `targets` is empty when the change is the same everywhere.
    """

    rule: str
    verdict: Verdict
    item: str
    message: str
    old: str = ""
    new: str = ""
    span: Span = NOWHERE
    targets: tuple[str, ...] = ()
    waiver: Waiver | None = None

    @property
    def counts(self) -> Verdict:
        """What it adds to the total: nothing when waived."""
        return Verdict.NONE if self.waiver else self.verdict


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two ABIs compared, for the reader: `label` as given (a path, `git:REF:path`, a release), its version and hash."""

    label: str
    version: str
    abi_hash: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """All of it. `errors` are faults of the run itself, such as a waiver that expired or that matched nothing."""

    old: Side
    new: Side
    findings: tuple[Finding, ...]
    errors: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        return max((f.counts for f in self.findings), default=Verdict.NONE)
