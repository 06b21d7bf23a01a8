"""Numbers: defaults, ranges, and what fits into a type."""

from __future__ import annotations

import math
from collections.abc import Iterator

from specbind.spec import model as m
from specbind.spec.rules.context import Context, Fault, called, kind_of

FLOAT_MAX = {32: 3.4028234663852886e38, 64: 1.7976931348623157e308}
SIZE_BITS = 32  # of the narrowest target


def outside_range(ctx: Context) -> Iterator[Fault]:
    for owner, part in ctx.parts():
        default = part.default
        if not isinstance(default, (int, float)):
            continue
        if (part.min is not None and default < part.min) or (part.max is not None and default > part.max):
            low, high = "" if part.min is None else f" from {part.min}", "" if part.max is None else f" to {part.max}"
            yield Fault(
                part,
                f"the default {default} of {called(part, owner)} is outside its range",
                "default",
                expected=f"a value{low}{high}",
            )


def range_of_no_number(ctx: Context) -> Iterator[Fault]:
    for owner, part in ctx.parts():
        is_out = isinstance(part, m.Param) and part.direction != "in"
        for key in ("min", "max", "unit"):
            if getattr(part, key) is None or kind_of(part.type) == "unknown":
                continue
            if kind_of(part.type) != "scalar":
                yield Fault(part, f"'{key}' of {called(part, owner)}, which is no number", key, expected=f"no '{key}'")
            elif key != "unit" and (is_out or part.array is not None):
                why = "comes out, so that nothing checks it" if is_out else "is an array, whose elements are not checked"
                yield Fault(part, f"'{key}' of {called(part, owner)}, which {why}", key, expected=f"no '{key}'")


def empty_range(ctx: Context) -> Iterator[Fault]:
    for owner, part in ctx.parts():
        if part.min is not None and part.max is not None and part.min > part.max:
            message = f"the range of {called(part, owner)} is empty: min {part.min} is above max {part.max}"
            yield Fault(part, message, "min", expected=f"at most {part.max}")


def misfits(ctx: Context) -> Iterator[Fault]:
    for constant in ctx.spec.constants:
        if why := misfit(constant.type, constant.value):
            yield Fault(constant, f"the value of constant '{constant.name}' {why[0]}", "value", expected=why[1])
    for enum in ctx.spec.enums:
        for value in enum.values:
            if why := misfit(m.SCALARS["i32"], value.value):
                yield Fault(value, f"value '{value.name}' of enum '{enum.name}' {why[0]}", "value", expected=why[1])
    for owner, part in ctx.parts():
        for key in ("min", "max"):
            number = getattr(part, key)
            if number is not None and isinstance(part.type, m.Scalar) and (why := misfit(part.type, number)):
                yield Fault(part, f"'{key}' of {called(part, owner)} {why[0]}", key, expected=why[1])
        if part.default is not None and (why := default_misfit(ctx, part, part.default)):
            yield Fault(part, f"the default of {called(part, owner)} {why[0]}", "default", expected=why[1])


def default_misfit(ctx: Context, part: m.Param | m.Field, default: m.Number | str) -> tuple[str, str] | None:
    """What is wrong with a default, and what it should be."""
    kind = part.type
    if part.array is not None or (isinstance(part, m.Param) and part.direction != "in"):
        return "is that of something that cannot have one", "no default"
    if isinstance(kind, m.Str):
        return None if isinstance(default, str) else ("is no text", "text in quotes")
    if isinstance(kind, m.Scalar):
        return ("is no number", "a number") if isinstance(default, str) else misfit(kind, default)
    enum = next((e for e in ctx.spec.enums if kind == m.Ref("enum", e.name)), None)
    if enum is not None:
        known = {v.value: v.name for v in enum.values}
        fits = isinstance(default, int) and (default in known or enum.flags)
        return None if fits else (f"is no value of enum '{enum.name}'", ", ".join(f"{v} ({n})" for v, n in known.items()))
    return None if kind_of(kind) in ("unknown", "enum") else ("is that of something that cannot have one", "no default")


def misfit(kind: m.Scalar, number: m.Number) -> tuple[str, str] | None:
    """Why `number` cannot be a value of `kind` on every target, and what could."""
    if kind.floating:
        fits = math.isfinite(number) and abs(number) <= FLOAT_MAX[kind.bits]
        return None if fits else (f"does not fit type '{kind.name}'", f"a number up to {FLOAT_MAX[kind.bits]:.6g}")
    if not isinstance(number, int):
        return f"is not whole, as type '{kind.name}' is", "a whole number"
    bits = kind.bits or SIZE_BITS
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if kind.signed else (0, 2**bits - 1)
    return None if low <= number <= high else (f"does not fit type '{kind.name}'", f"a number from {low} to {high}")


def flags(ctx: Context) -> Iterator[Fault]:
    for enum in ctx.spec.enums:
        bits = sum({v.value for v in enum.values if v.value > 0 and v.value.bit_count() == 1})
        for value in enum.values:
            if enum.flags and (value.value < 0 or value.value & ~bits):
                message = f"flag '{value.name}' of enum '{enum.name}' is neither a single bit nor made of the others"
                yield Fault(value, message, "value", expected="1, 2, 4, 8 ..., 0, or a sum of flags that are there")
