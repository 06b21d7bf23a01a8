"""Arrays: how long they are, and how a caller learns how much came out."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.spec import model as m
from specbind.spec.rules.context import Context, Fault, called

P = m.Passing


def without_length(ctx: Context) -> Iterator[Fault]:
    """Borrowed data that comes out; an array with a key `array` has its length, or the reference is wrong."""
    for owner, param in ctx.params():
        lengths = [p for p in owner.params if p.passing is P.SCALAR_OUT and p.role == "length"]
        if param.passing is P.ADDRESS_OUT and not lengths:
            message = f"{called(param, owner)} gives the address of data whose length nobody tells"
            yield Fault(param, message, "pointer", expected="another parameter with direction out and role length")


def without_count(ctx: Context) -> Iterator[Fault]:
    for owner, param in ctx.params():
        if param.passing is P.ARRAY_OUT and param.count is None:
            message = f"output buffer {called(param, owner)} has a capacity but no count"
            yield Fault(
                param, message, expected="'count' with the parameter of type size and direction out that receives the number"
            )


def count_without_buffer(ctx: Context) -> Iterator[Fault]:
    for owner, param in ctx.params():
        if param.count is not None and param.passing is not P.ARRAY_OUT:
            message = f"{called(param, owner)} has a count but is no output buffer"
            yield Fault(param, message, "count", expected="'array' and direction out, or no count")


def length_types(ctx: Context) -> Iterator[Fault]:
    yield from (f for owner, param in ctx.params() for f in parameter_lengths(owner, param))
    for struct, field in ctx.fields():
        length = next((f for f in struct.fields if f.name == field.array), None)
        if length is None or field.array == field.name:
            continue
        kind = length.type
        if not isinstance(kind, m.Scalar) or kind.floating or length.array is not None:
            message = f"{called(length, struct)} is the length of '{field.name}' but no whole number"
            yield Fault(length, message, "type", expected="size, or another type of whole numbers")
        elif kind.signed and (length.min is None or length.min < 0):
            message = f"{called(length, struct)} is the length of '{field.name}' and could be negative"
            yield Fault(length, message, "min", expected="min: 0, or an unsigned type")


def parameter_lengths(owner: m.Function | m.Callback, param: m.Param) -> Iterator[Fault]:
    for name, passing, what in ((param.array, P.VALUE, "length"), (param.count, P.SCALAR_OUT, "count")):
        other = next((p for p in owner.params if p.name == name and p.name != param.name), None)
        if other is None:
            continue
        if what == "length" and param.passing is P.ARRAY_OUT:
            what = "capacity"
        if other.type != m.SCALARS["size"]:
            message = f"{called(other, owner)} is the {what} of '{param.name}' but has the type '{other.type.name}'"
            yield Fault(other, message, "type", expected="size")
        elif other.passing is not passing:
            direction = "out" if passing is P.SCALAR_OUT else "in"
            message = f"{called(other, owner)} is the {what} of '{param.name}' but does not go {direction}"
            yield Fault(other, message, "direction", expected=f"direction {direction}, and no array")
