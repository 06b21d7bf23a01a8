"""Enums and their values: the numbers are compiled into callers, the names are not."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from specbind.diff.change import Matched, Pair, found, match, whole_items
from specbind.diff.finding import Finding
from specbind.diff.lifecycle import aged, removed_early
from specbind.spec import model as m


def recognised(enum: m.Enum) -> Hashable:
    """By what an enum is known under another name: all its values."""
    values = tuple((value.name, value.value) for value in enum.values)
    return values if len(values) > 1 else None


def enums(pair: Pair) -> Iterator[Finding]:
    """All findings about enums."""
    matched = match(pair.old.enums, pair.new.enums, recognised)
    yield from whole_items("enum", matched, enum_text)
    for before, after in matched.both:
        yield from enum(pair, before, after)


def enum_text(enum: m.Enum) -> str:
    return f"{enum.name} {{ {', '.join(value.name for value in enum.values)} }}"


def value_text(value: m.EnumValue) -> str:
    return f"{value.name} = {value.value}"


def with_twins(matched: Matched, after: m.Enum) -> Matched:
    """A value that went while another name has its number was only renamed: old binaries go on."""
    twins = [(value, twin) for value in matched.removed for twin in after.values if twin.value == value.value]
    return matched._replace(
        renamed=matched.renamed + twins, removed=[value for value in matched.removed if value not in [gone for gone, _ in twins]]
    )


def enum(pair: Pair, before: m.Enum, after: m.Enum) -> Iterator[Finding]:
    """Findings about an enum that is on both sides."""
    item = f"enum {before.name}"
    if before.flags != after.flags:
        yield found("enum-flags-changed", item, "flags now" if after.flags else "no longer flags", span=after.span)
    same_prefix = pair.renames.get(("enum", before.name)) is not None and before.prefix == before.name + "_"
    if before.prefix != after.prefix and not same_prefix:  # the prefix that follows from the name changes with it
        message = f"constants begin with '{after.prefix}', they began with '{before.prefix}'"
        yield found("enum-prefix-changed", item, message, old=before.prefix, new=after.prefix, span=after.span)
    yield from aged(pair, item, before, after)
    matched = with_twins(match(before.values, after.values, lambda value: value.value), after)
    yield from whole_items("enum-value", matched, value_text, owner=item)
    yield from removed_early(pair, f"{item}.", matched.removed)
    for one, other in matched.both:
        path = f"{item}.{one.name}"
        if one.value != other.value:
            message = f"{other.value}, it was {one.value}"
            yield found("enum-value-changed", path, message, old=value_text(one), new=value_text(other), span=other.span)
        yield from aged(pair, path, one, other)
