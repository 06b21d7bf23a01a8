"""What fields and parameters promise beyond their type: defaults, ranges, units, roles, lifetimes, NULL."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from specbind.diff.change import found
from specbind.diff.finding import Finding
from specbind.spec import model as m

Part = m.Field | m.Param


class Flow(Enum):
    """Who makes a value: the caller, the library, or either."""

    IN = "in"
    OUT = "out"
    BOTH = "both"


def promises(item: str, before: Part, after: Part, flow: Flow) -> Iterator[Finding]:
    """Changes of everything but type and role of a field or parameter that is on both sides."""
    yield from defaults(item, before, after)
    yield from ranges(item, before, after)
    yield from nulls(item, before, after, flow)
    yield from said(item, "unit-changed", before.unit, after.unit, "the unit", after.span)
    yield from said(item, "lifetime-changed", before.lifetime, after.lifetime, "how long it is valid", after.span)


def roles(item: str, before: Part, after: Part) -> Iterator[Finding]:
    """Another role in the same place."""
    if before.role == after.role and isinstance(before, m.Param) and isinstance(after, m.Param):
        yield from said(item, "role-changed", before.which, after.which, "which one it is", after.span)
    else:
        yield from said(item, "role-changed", role_text(before), role_text(after), "what it stands for", after.span)


def said(item: str, rule: str, old: str | None, new: str | None, what: str, span: m.Span) -> Iterator[Finding]:
    """A fact that a spec states in words. Stated for the first time it describes what was so before."""
    old, new = old or "", new or ""
    if old == new:
        return
    if not old:
        yield found("documentation-changed", item, f"{what} is stated now: {new}", new=new, span=span)
    else:
        yield found(rule, item, f"{what}: {new or 'not stated'}, it was {old}", old=old, new=new, span=span)


def role_text(part: Part) -> str:
    which = part.which if isinstance(part, m.Param) else None
    return f"{part.role}, {which}" if part.role and which else part.role or ""


def defaults(item: str, before: Part, after: Part) -> Iterator[Finding]:
    if before.default == after.default:
        return
    old, new = (None if each.default is None else repr(each.default) for each in (before, after))
    if new is None:
        yield found("default-removed", item, f"the default {old} is gone", old=old or "", span=after.span)
    elif old is None:
        yield found("default-added", item, f"the default is {new} now", new=new, span=after.span)
    else:
        yield found("default-changed", item, f"the default is {new}, it was {old}", old=old, new=new, span=after.span)


def ranges(item: str, before: Part, after: Part) -> Iterator[Finding]:
    old, new = range_text(before), range_text(after)
    narrower = below(before.min, after.min) or below(after.max, before.max, ends=True) or all_of(before) > all_of(after)
    wider = below(after.min, before.min) or below(before.max, after.max, ends=True) or all_of(after) > all_of(before)
    if narrower:
        yield found("range-narrowed", item, f"{new} is accepted, it was {old}", old=old, new=new, span=after.span)
    elif wider:
        yield found("range-widened", item, f"{new} is accepted, it was {old}", old=old, new=new, span=after.span)


def below(one: m.Number | None, other: m.Number | None, *, ends: bool = False) -> bool:
    """Whether a bound lies below another; None is unbounded, which is the lowest start or, with `ends`, the highest end."""
    infinite = float("inf") if ends else float("-inf")
    return (infinite if one is None else one) < (infinite if other is None else other)


def all_of(part: Part) -> bool:
    return isinstance(part, m.Param) and part.all_sequences


def range_text(part: Part) -> str:
    if part.min is None and part.max is None:
        text = "any value"
    elif part.max is None:
        text = f"{part.min} and above"
    else:
        text = f"{part.max} and below" if part.min is None else f"{part.min} to {part.max}"
    return f"{text}, or all sequences" if all_of(part) else text


def nulls(item: str, before: Part, after: Part, flow: Flow) -> Iterator[Finding]:
    if before.nullable == after.nullable:
        return
    rule, message = {
        (Flow.IN, True): ("null-accepted", "NULL is accepted now"),
        (Flow.IN, False): ("null-refused", "NULL is no longer accepted"),
        (Flow.OUT, True): ("null-possible", "NULL may come now"),
        (Flow.OUT, False): ("null-excluded", "NULL does not come any more"),
        (Flow.BOTH, True): ("null-possible", "NULL may stand there now, and readers must expect it"),
        (Flow.BOTH, False): ("null-refused", "NULL may no longer stand there"),
    }[flow, after.nullable]
    words = ("never NULL", "may be NULL")
    yield found(rule, item, message, old=words[before.nullable], new=words[after.nullable], span=after.span)
