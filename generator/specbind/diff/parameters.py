"""Parameters of a function or callback: what was added, what changed places, what only has another name.

C finds a parameter by its place, people by its name, and the spec by its role. Where the types cannot tell whether two
parameters changed places, roles decide; without roles, a name that moved to another place does; and where neither says
anything, the finding is that nothing does.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

from specbind.diff import flow, values
from specbind.diff.change import Pair, found
from specbind.diff.finding import Finding
from specbind.diff.lifecycle import aged
from specbind.diff.types import part_text, same_type, type_change
from specbind.spec import model as m

Couple = tuple[m.Param, m.Param]
P = m.Passing


class Aligned(NamedTuple):
    """Parameters that take the same place, and those that have none on the other side."""

    places: list[Couple]
    removed: list[m.Param]
    added: list[m.Param]


def parameters(pair: Pair, item: str, before: m.Function | m.Callback, after: m.Function | m.Callback) -> Iterator[Finding]:
    """All findings about the parameters of `item`."""
    sides = align(pair, before.params, after.params)
    elsewhere = {param.name for param in sides.removed} & {param.name for param in sides.added} - {""}
    for param in sides.removed:
        if param.name in elsewhere:
            continue
        message = f"parameter '{param.name}' is gone"
        yield found("parameter-removed", f"{item}({param.name})", message, old=part_text(param), span=after.span)
    for param in sides.added:
        if param.name in elsewhere:
            message = f"parameter '{param.name}' stands elsewhere now, {where(param, after.params)}"
            yield found(
                "parameters-reordered",
                f"{item}({param.name})",
                message,
                old=part_text(param),
                new=part_text(param),
                span=param.span,
            )
            continue
        message = f"parameter '{param.name}' is new, {where(param, after.params)}"
        yield found("parameter-added", f"{item}({param.name})", message, new=part_text(param), span=param.span)
    fates = decide(pair, sides.places)
    yield from moves(pair, item, fates, after)
    names = {one.name: other.name for one, other in fates.identical}
    for one, other in fates.identical:
        yield from parameter(pair, f"{item}({one.name})", one, other, names, callback=isinstance(before, m.Callback))


def where(param: m.Param, params: tuple[m.Param, ...]) -> str:
    index = params.index(param)
    if index == len(params) - 1:
        return "at the end" if index else "the only one"
    return "in front of all others" if index == 0 else f"behind '{params[index - 1].name}'"


# --- which parameter is which ---


def key(param: m.Param) -> tuple[str, str | None] | None:
    """The role of a parameter, None if it has none."""
    return (param.role, param.which) if param.role is not None else None


def align(pair: Pair, old: tuple[m.Param, ...], new: tuple[m.Param, ...]) -> Aligned:
    """Set the two lists against each other. Of one length they are taken place by place."""
    if len(old) == len(new):
        return Aligned(list(zip(old, new, strict=True)), [], [])
    from difflib import SequenceMatcher

    sides = Aligned([], [], [])
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, tokens(old, new), tokens(new, old), autojunk=False).get_opcodes():
        gone, come = list(old[i1:i2]), list(new[j1:j2])
        couples = list(zip(gone, come, strict=True)) if tag == "equal" else of_one_type(pair, gone, come)
        sides.places.extend(couples)
        sides.removed.extend(param for param in gone if param not in [one for one, _ in couples])
        sides.added.extend(param for param in come if param not in [other for _, other in couples])
    return sides


def of_one_type(pair: Pair, gone: list[m.Param], come: list[m.Param]) -> list[Couple]:
    """Parameters between the same neighbours, set against each other by type, in order."""
    couples, start = [], 0
    for one in gone:
        for index in range(start, len(come)):
            if same_type(pair, one.type, come[index].type) and one.passing is come[index].passing:
                couples.append((one, come[index]))
                start = index + 1
                break
    return couples


def tokens(params: tuple[m.Param, ...], others: tuple[m.Param, ...]) -> list[Hashable]:
    """What each parameter is recognised by: its role where that is in both lists, else its name."""
    mine, theirs = [key(p) for p in params], [key(p) for p in others]
    return [k if k is not None and mine.count(k) == theirs.count(k) == 1 else p.name for k, p in zip(mine, params, strict=True)]


class Fates(NamedTuple):
    """What became of parameters that have a place on both sides."""

    identical: list[Couple]  # the same parameter, wherever it stands now
    moved: list[Couple]  # by place: what stood there and what stands there now
    exchanged: list[Couple]  # the same parameter in the same place under a name that another had
    renamed: list[Couple]
    ambiguous: list[list[Couple]]


def decide(pair: Pair, places: list[Couple]) -> Fates:
    """Tell parameters that moved from those that only have another name."""
    fates = Fates([], [], [], [], [])
    old_names, new_names = {one.name for one, _ in places}, {other.name for _, other in places}
    old_keys, new_keys = [key(one) for one, _ in places], [key(other) for _, other in places]
    unclear: list[Couple] = []
    for one, other in places:
        was, now = key(one), key(other)
        by_role = was is not None and now is not None
        if by_role and was != now and (unique(was, new_keys) or unique(now, old_keys)):
            fates.moved.append((one, other))
        elif one.name == other.name or (by_role and was != now):
            fates.identical.append((one, other))
        elif by_role:
            fates.identical.append((one, other))
            (fates.exchanged if one.name in new_names or other.name in old_names else fates.renamed).append((one, other))
        elif one.name in new_names or other.name in old_names:
            fates.moved.append((one, other))
        else:
            unclear.append((one, other))
    fates.identical.extend(followed(fates.moved))
    judge(pair, unclear, fates)
    return fates


def unique(wanted: Hashable, keys: list[tuple[str, str | None] | None]) -> bool:
    return keys.count(wanted) == 1  # type: ignore[arg-type]


def followed(moved: list[Couple]) -> Iterator[Couple]:
    """Each parameter that moved with itself in its new place, where it has one."""
    for one, _ in moved:
        for _, other in moved:
            if key(one) == key(other) if key(one) and key(other) else one.name == other.name:
                yield one, other
                break


def judge(pair: Pair, unclear: list[Couple], fates: Fates) -> None:
    """Parameters without roles whose names are new: alone of its kind each was renamed, several could have moved."""
    kinds: dict[Hashable, list[Couple]] = {}
    for one, other in unclear:
        fates.identical.append((one, other))
        if type_change(pair, one.type, other.type) is None and one.passing is other.passing:
            kinds.setdefault((one.type, one.passing, evidence(one), evidence(other)), []).append((one, other))
        else:
            fates.renamed.append((one, other))  # the change of its type says more
    for alike in kinds.values():
        if len(alike) > 1:
            fates.ambiguous.append(alike)
        else:
            fates.renamed.extend(alike)


def evidence(param: m.Param) -> Hashable:
    """What tells parameters of one type apart when neither names nor roles do."""
    return param.unit, param.ownership


def moves(pair: Pair, item: str, fates: Fates, after: m.Function | m.Callback) -> Iterator[Finding]:
    """Findings about places and names."""
    if fates.moved:
        old, new = listed(fates.moved)
        swapped = all(
            type_change(pair, one.type, other.type) is None and one.passing is other.passing for one, other in fates.moved
        )
        rule = "parameters-swapped" if swapped else "parameters-reordered"
        yield found(rule, f"{item}({old})", f"{new} where {old} stood", old=old, new=new, span=fates.moved[0][1].span)
    if fates.exchanged:
        old, new = listed(fates.exchanged)
        message = f"{old} are called {new}: names that others had, while the roles stay where they were"
        yield found("parameter-names-swapped", f"{item}({old})", message, old=old, new=new, span=fates.exchanged[0][1].span)
    for alike in fates.ambiguous:
        old, new = listed(alike)
        message = f"{old} are called {new}; neither roles nor names say whether they changed places"
        yield found("parameters-ambiguous", f"{item}({old})", message, old=old, new=new, span=alike[0][1].span)
    for one, other in fates.renamed:
        message = f"parameter '{one.name}' is called '{other.name}' now"
        yield found("parameter-renamed", f"{item}({one.name})", message, old=one.name, new=other.name, span=other.span)


def listed(couples: list[Couple]) -> tuple[str, str]:
    return ", ".join(one.name for one, _ in couples), ", ".join(other.name for _, other in couples)


# --- what changed in one parameter ---

RULES = {"width": "parameter-width-changed", "sign": "parameter-sign-changed", "type": "parameter-type-changed"}
RULES |= {"enum": "parameter-enum-changed", "typedef": "parameter-typedef-changed"}

ONE_OR_MANY = ({P.STRUCT_IN, P.ARRAY_IN}, {P.STRUCT_OUT, P.SCALAR_OUT, P.ARRAY_OUT})


def parameter(pair: Pair, item: str, one: m.Param, other: m.Param, names: dict[str, str], *, callback: bool) -> Iterator[Finding]:
    """Findings about a parameter that is on both sides; `names` are the new names of all of them."""
    old, new = part_text(one), part_text(other)
    change = type_change(pair, one.type, other.type)
    if change is not None:
        message = f"the type is {other.type.name}, it was {one.type.name}"
        yield found(RULES[change.how], item, message, old=old, new=new, span=other.span, targets=change.targets)
    elif one.passing is not other.passing or one.direction != other.direction:
        rule, message = passed(pair, one, other)
        yield found(rule, item, message, old=old, new=new, span=other.span)
    else:
        yield from linked(item, one, other, names)
        yield from values.promises(item, one, other, flow.of_param(other, callback=callback))
        yield from values.roles(item, one, other)
        if one.ownership != other.ownership:
            message = f"{other.ownership or 'ownership not stated'}, it was {one.ownership or 'not stated'}"
            words = one.ownership or "", other.ownership or ""
            yield found("parameter-ownership-changed", item, message, old=words[0], new=words[1], span=other.span)
    yield from aged(pair, item, one, other)


def passed(pair: Pair, one: m.Param, other: m.Param) -> tuple[str, str]:
    """The rule for a parameter of the same type that crosses the boundary differently, and what to say."""
    ways = {one.passing, other.passing}
    if any(ways <= each for each in ONE_OR_MANY):
        return "parameter-array-changed", "one element became several, or several one"
    if one.direction == other.direction:
        return "parameter-type-changed", "passed by address now" if one.passing is P.VALUE else "passed in another way"
    if (one.direction, other.direction) == ("in", "inout"):
        return "parameter-const-dropped", "the library may write it now"
    if pair.declared and other.direction == "in" and (one.passing is P.VALUE) is (other.passing is P.VALUE):
        return "parameter-const-added", "points to const now"
    if P.VALUE in ways:
        return "parameter-type-changed", "passed by address now" if one.passing is P.VALUE else "passed by value now"
    return "parameter-direction-changed", f"direction {other.direction}, it was {one.direction}"


def linked(item: str, one: m.Param, other: m.Param, names: dict[str, str]) -> Iterator[Finding]:
    """Lengths, capacities and counts that another parameter holds now."""
    for what, was, now in (("length", one.array, other.array), ("count", one.count, other.count)):
        if (was and names.get(was, was)) != now:
            message = f"its {what} is in {now or 'no parameter'}, it was in {was or 'none'}"
            yield found("parameter-array-changed", item, message, old=was or "", new=now or "", span=other.span)
