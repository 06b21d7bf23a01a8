"""When things came and when they go."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from specbind.spec import model as m
from specbind.spec.rules.context import Context, Fault

Aged = m.Constant | m.Handle | m.Enum | m.EnumValue | m.Callback | m.Struct | m.Field | m.Function
Mortal = m.EnumValue | m.Struct | m.Field | m.Function


@cache
def number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def aged(ctx: Context) -> Iterator[Aged]:
    """Everything with a version of its own."""
    spec = ctx.spec
    items: tuple[Aged, ...] = (
        *spec.constants, *spec.handles, *spec.enums, *spec.callbacks, *spec.structs, *spec.functions,
    )  # fmt: skip
    yield from items
    yield from (value for enum in spec.enums for value in enum.values)
    yield from (field for struct in spec.structs for field in struct.fields)


def from_the_future(ctx: Context) -> Iterator[Fault]:
    now = ctx.spec.version
    for item in aged(ctx):
        if number(item.since) > number(now) and ctx.written(item, "since"):
            message = f"'{item.name}' is there since {item.since}, but the library is at {now}"
            yield Fault(item, message, "since", expected=f"at most {now}, or a higher version of the library")
        if isinstance(item, Mortal) and item.deprecated_since is not None and number(item.deprecated_since) > number(now):
            message = f"'{item.name}' is deprecated since {item.deprecated_since}, but the library is at {now}"
            yield Fault(item, message, "deprecated", expected=f"at most {now}, or a higher version of the library")
    if number(ctx.spec.since) > number(now):
        place = ctx.source.place(ctx.root.entries["library"][1].entries["since"][1])
        yield Fault(
            None, f"'since' {ctx.spec.since} of the library is above its version {now}", expected=f"at most {now}", place=place
        )


def deprecated_before_born(ctx: Context) -> Iterator[Fault]:
    for item in aged(ctx):
        if isinstance(item, Mortal) and item.deprecated_since is not None and number(item.deprecated_since) < number(item.since):
            message = f"'{item.name}' is deprecated since {item.deprecated_since}, before it was there (since {item.since})"
            yield Fault(item, message, "deprecated", expected=f"{item.since} or later")


def inserted_fields(ctx: Context) -> Iterator[Fault]:
    """A field that is younger than one behind it was put in front of it, and moved it."""
    for struct in ctx.spec.structs:
        if {field.since for field in struct.fields} == {struct.since}:
            continue
        for index, field in enumerate(struct.fields):
            older = next((f for f in struct.fields[index + 1 :] if number(f.since) < number(field.since)), None)
            if older is not None:
                message = f"field '{field.name}' of struct '{struct.name}' is younger than '{older.name}' behind it"
                yield Fault(field, message, expected=f"it (since {field.since}) behind all older fields, which keep their places")
            if not struct.growable and number(field.since) > number(struct.since):
                message = f"field '{field.name}' is younger than its struct '{struct.name}', which is not growable"
                yield Fault(field, message, "since", expected="a new struct")
