"""Structs and their fields: what moved, what came and went, what means something else in the same place."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

from specbind.diff import values
from specbind.diff.change import Matched, Pair, found, match, whole_items
from specbind.diff.finding import Finding, Verdict
from specbind.diff.flow import of_structs
from specbind.diff.lifecycle import aged, removed_early
from specbind.diff.types import part_text, type_change
from specbind.layout import engine
from specbind.layout.targets import TARGETS
from specbind.spec import model as m


def recognised(struct: m.Struct) -> Hashable:
    """By what a struct is known under another name: all its fields."""
    fields = tuple((field.name, field.type.name, field.array) for field in struct.fields)
    return fields if len(fields) > 1 else None


def structs(pair: Pair) -> Iterator[Finding]:
    """All findings about structs."""
    matched = match(pair.old.structs, pair.new.structs, recognised)
    yield from whole_items("struct", matched, struct_text)
    yield from removed_early(pair, "struct ", matched.removed)
    flows = of_structs(pair.new)
    for before, after in matched.both:
        yield from struct(pair, before, after, flows[after.name])


def struct_text(struct: m.Struct) -> str:
    return f"{struct.name} {{ {', '.join(field.name for field in struct.fields)} }}"


def struct(pair: Pair, before: m.Struct, after: m.Struct, flow: values.Flow) -> Iterator[Finding]:
    """Findings about a struct that is on both sides."""
    item = f"struct {before.name}"
    if before.growable != after.growable:
        message = "growable now" if after.growable else "no longer growable"
        yield found("struct-growable-changed", item, message, span=after.span)
    if before.init != after.init:
        message = f"defaults come from '{after.init}', they came from '{before.init}'"
        yield found("struct-init-changed", item, message, old=before.init or "", new=after.init or "", span=after.span)
    yield from aged(pair, item, before, after)
    if before.growable == after.growable:
        yield from fields(pair, item, before, after, flow)


class Fields(NamedTuple):
    """Fields of the two sides set against each other; `ambiguous` are runs of renamed fields that nothing tells apart."""

    kept: list[tuple[m.Field, m.Field]]
    renamed: list[tuple[m.Field, m.Field]]
    replaced: list[tuple[m.Field, m.Field]]
    ambiguous: list[list[tuple[m.Field, m.Field]]]
    removed: list[m.Field]
    added: list[m.Field]

    @property
    def in_place(self) -> list[tuple[m.Field, m.Field]]:
        """Pairs that take the same place, whatever their names."""
        return [*self.kept, *self.renamed, *self.replaced, *(each for run in self.ambiguous for each in run)]


def fields(pair: Pair, item: str, before: m.Struct, after: m.Struct, flow: values.Flow) -> Iterator[Finding]:
    """Findings about the fields of a struct."""
    sides = set_against(pair, before, after)
    findings = [
        *coming_and_going(pair, item, before, after, sides),
        *(each for one, other in (*sides.kept, *sides.renamed) for each in field(pair, item, one, other, flow)),
        *linked(item, sides),
    ]
    yield from findings
    explained = any(each.verdict is Verdict.BINARY or each.rule == "field-in-padding" for each in findings)
    if not explained and holds_structs(after):
        yield from moved(item, before, after, sides)


def holds_structs(struct: m.Struct) -> bool:
    """Whether places can change without a finding about a field: where a struct stands in this one by value."""
    return any(isinstance(field.type, m.CType) for field in struct.fields)


def set_against(pair: Pair, before: m.Struct, after: m.Struct) -> Fields:
    """Find each old field in the new struct: by name, else by its place between fields that kept theirs."""
    old, new = [f.name for f in before.fields], [f.name for f in after.fields]
    matched: Matched = match(before.fields, after.fields)
    sides = Fields(matched.kept, [], [], [], matched.removed, matched.added)
    if not matched.removed or not matched.added:
        return sides
    from difflib import SequenceMatcher

    gone, come = {f.name for f in matched.removed}, {f.name for f in matched.added}
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "replace":
            continue
        run = [(one, other) for one, other in zip(before.fields[i1:i2], after.fields[j1:j2], strict=False)
               if one.name in gone and other.name in come and type_change(pair, one.type, other.type) is None
               and (one.array is None) == (other.array is None)]  # fmt: skip
        for one, other in run:
            sides.removed.remove(one)
            sides.added.remove(other)
        sort_run(sides, run)
    return sides


def sort_run(sides: Fields, run: list[tuple[m.Field, m.Field]]) -> None:
    """Decide what happened to fields with new names in old places."""
    open_pairs: dict[Hashable, list[tuple[m.Field, m.Field]]] = {}
    for one, other in run:
        if evidence(one) != evidence(other):
            sides.replaced.append((one, other))
        else:
            open_pairs.setdefault((one.type, evidence(one)), []).append((one, other))
    for alike in open_pairs.values():
        if len(alike) == 1:
            sides.renamed.extend(alike)
        else:
            sides.ambiguous.append(alike)


def evidence(field: m.Field) -> Hashable:
    """What tells fields of one type apart when names do not."""
    return field.role, field.unit


def is_reserved(field: m.Field) -> bool:
    """A place holder that callers had to leave 0."""
    return field.min == field.max == 0


def coming_and_going(pair: Pair, item: str, before: m.Struct, after: m.Struct, sides: Fields) -> Iterator[Finding]:
    for one in sides.removed:
        yield found("field-removed", f"{item}.{one.name}", f"field '{one.name}' is gone", old=part_text(one), span=one.span)
    yield from removed_early(pair, f"{item}.", sides.removed)
    for one, other in (*sides.renamed, *sides.replaced):
        yield renamed(item, one, other, decided=(one, other) in sides.renamed)
    for run in sides.ambiguous:
        old, new = (", ".join(each.name for each in side) for side in zip(*run, strict=True))
        message = f"fields {old} are called {new}; nothing says which is which"
        yield found("field-ambiguous", f"{item}.{run[0][0].name}", message, old=old, new=new, span=run[0][1].span)
    yield from reordered(item, after, sides)
    yield from added(item, before, after, sides)


def renamed(item: str, one: m.Field, other: m.Field, *, decided: bool) -> Finding:
    path = f"{item}.{one.name}"
    old, new = part_text(one), part_text(other)
    if is_reserved(one) and not is_reserved(other):
        if other.default in (0, None):
            message = f"'{one.name}' is '{other.name}' now, and what old callers leave there is its default"
            return found("field-from-reserved", path, message, old=old, new=new, span=other.span)
        message = f"'{one.name}' is '{other.name}' now; old callers leave 0 there, but its default is {other.default!r}"
        return found("default-changed", path, message, old="0", new=repr(other.default), span=other.span)
    if decided:
        message = f"field '{one.name}' is called '{other.name}' now"
        return found("field-renamed", path, message, old=old, new=new, span=other.span)
    message = f"'{other.name}' ({described(other)}) is where '{one.name}' ({described(one)}) was"
    return found("role-changed", path, message, old=old, new=new, span=other.span)


def described(field: m.Field) -> str:
    return ", ".join(filter(None, (field.role, field.unit))) or "no role, no unit"


def reordered(item: str, after: m.Struct, sides: Fields) -> Iterator[Finding]:
    old = [one.name for one, _ in sides.kept]
    new = [each.name for each in after.fields if each.name in set(old)]
    if old != new:
        first = next(index for index, name in enumerate(old) if name != new[index])
        message = f"fields changed their order from '{old[first]}' on"
        span = after.field(new[first]).span
        yield found("field-reordered", f"{item}.{old[first]}", message, old=", ".join(old), new=", ".join(new), span=span)


def added(item: str, before: m.Struct, after: m.Struct, sides: Fields) -> Iterator[Finding]:
    """Fields that came: behind all others, between them, or into bytes that were padding, perhaps on some targets only."""
    stayed = {other.name for _, other in sides.in_place}
    last = max((index for index, each in enumerate(after.fields) if each.name in stayed), default=-1)
    for index, each in enumerate(after.fields):
        if each not in sides.added:
            continue
        path, new = f"{item}.{each.name}", part_text(each)
        padded = in_padding(before, after, each, sides)
        if padded:
            message = f"'{each.name}' lies where old callers have padding, which they never set"
            yield found("field-in-padding", path, message, new=new, span=each.span, targets=some(padded))
        if len(padded) == len(TARGETS):
            continue
        others = some(tuple(name for name in TARGETS if name not in padded))
        if index < last:
            rule, message = "field-inserted", f"'{each.name}' was put before '{after.fields[index + 1].name}'"
        elif after.growable:
            rule, message = "field-appended", f"'{each.name}' was appended"
        else:
            rule, message = "field-appended-frozen", f"'{each.name}' was appended to a struct of fixed size"
        yield found(rule, path, message, new=new, span=each.span, targets=others)


def some(targets: tuple[str, ...]) -> tuple[str, ...]:
    """Targets as a finding has them: none for all."""
    return targets if len(targets) < len(TARGETS) else ()


def in_padding(before: m.Struct, after: m.Struct, field: m.Field, sides: Fields) -> tuple[str, ...]:
    """Targets on which a new field takes bytes of the old struct that belong to no field, and nothing moves."""
    found_on = []
    for target in TARGETS.values():
        old, new = engine.layout(before, target), engine.layout(after, target)
        place = new.field(field.name)
        still = all(old.field(one.name).offset == new.field(other.name).offset for one, other in sides.in_place)
        if still and place.offset < old.size and not after_removed(place, old, sides):
            found_on.append(target.name)
    return tuple(found_on)


def after_removed(place: engine.FieldLayout, old: engine.StructLayout, sides: Fields) -> bool:
    """Whether the bytes belonged to a field that went."""
    spans = ((old.field(one.name).offset, old.field(one.name).size) for one in sides.removed)
    return any(start < place.offset + place.size and place.offset < start + size for start, size in spans)


RULES = {"width": "field-width-changed", "sign": "field-sign-changed", "type": "field-type-changed"}
RULES |= {"enum": "field-enum-changed", "typedef": "field-typedef-changed", "length": "field-length-changed"}


def field(pair: Pair, item: str, before: m.Field, after: m.Field, flow: values.Flow) -> Iterator[Finding]:
    """Findings about a field that is on both sides."""
    path = f"{item}.{before.name}"
    change = type_change(pair, before.type, after.type)
    if change is not None:
        old, new = part_text(before), part_text(after)
        message = f"the type is {after.type.name}, it was {before.type.name}"
        yield found(RULES[change.how], path, message, old=old, new=new, span=after.span, targets=change.targets)
    if is_reserved(before) and not is_reserved(after):
        return
    if change is None:
        yield from values.promises(path, before, after, flow)
        yield from values.roles(path, before, after)
    yield from aged(pair, path, before, after)


def linked(item: str, sides: Fields) -> Iterator[Finding]:
    """Arrays whose length another field holds now."""
    names = {one.name: other.name for one, other in sides.in_place}
    for one, other in sides.in_place:
        if (one.array and names.get(one.array, one.array)) != other.array:
            message = f"its length is {other.array or 'one element'}, it was {one.array or 'one element'}"
            old, new = part_text(one), part_text(other)
            yield found("field-array-changed", f"{item}.{one.name}", message, old=old, new=new, span=other.span)


def moved(item: str, before: m.Struct, after: m.Struct, sides: Fields) -> Iterator[Finding]:
    """The first field that lies elsewhere though no finding explains it, with the targets where it does."""
    places: dict[str, list[tuple[str, engine.FieldLayout, engine.FieldLayout]]] = {}
    for target in TARGETS.values():
        old = {field.name: field for field in engine.layout(before, target).fields}
        new = {field.name: field for field in engine.layout(after, target).fields}
        for one, other in sides.in_place:
            was, now = old[one.name], new[other.name]
            if (was.offset, was.size) != (now.offset, now.size):
                places.setdefault(one.name, []).append((target.name, was, now))
    if places:
        first = next(field.name for field in before.fields if field.name in places)
        span = next(other.span for one, other in sides.in_place if one.name == first)
        name, was, now = places[first][0]
        old_place, new_place = (f"offset {place.offset} and size {place.size}" for place in (was, now))
        message = f"{new_place} on {name}, it was {old_place}"
        where = some(tuple(each[0] for each in places[first]))
        yield found("field-moved", f"{item}.{first}", message, old=old_place, new=new_place, span=span, targets=where)
