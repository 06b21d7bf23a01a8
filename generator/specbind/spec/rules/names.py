"""Names and numbers that must be there once only, and names that must begin with the library's."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.spec import model as m
from specbind.spec.rules.context import Context, Fault, Item
from specbind.spec.rules.references import FORBIDDEN


def duplicates(ctx: Context) -> Iterator[Fault]:
    spec = ctx.spec
    # Types of all kinds share one name space: elsewhere they are referred to by name alone.
    types = (
        [("enum", e) for e in spec.enums]
        + [("struct", s) for s in spec.structs]
        + [("handle", h) for h in spec.handles]
        + [("foreign type", f) for f in spec.foreign]
        + [("callback", c) for c in spec.callbacks]
    )
    yield from twice([(kind, item.name, item) for kind, item in types], "")
    for kind, item in types:
        if item.name in m.SCALARS or item.name in ("str", "pointer") or item.name in FORBIDDEN:
            yield Fault(item, f"{kind} '{item.name}' has the name of a type of the language or of C", expected="another name")
    yield from twice([("function", f.name, f) for f in spec.functions], "")
    yield from twice([("constant", c.name, c) for c in spec.constants], "")
    yield from twice([("group", g.name, g) for g in spec.groups], "")
    for enum in spec.enums:
        yield from twice([("value", v.name, v) for v in enum.values], f" of enum '{enum.name}'")
    for struct in spec.structs:
        yield from twice([("field", f.name, f) for f in struct.fields], f" of struct '{struct.name}'")
    for owner in ctx.signatures:
        yield from twice([("parameter", p.name, p) for p in owner.params], f" of '{owner.name}'")


def twice(items: list[tuple[str, str, Item]], owner: str) -> Iterator[Fault]:
    """Faults for all items whose name an earlier one has."""
    first: dict[str, tuple[str, Item]] = {}
    for kind, name, item in items:
        if name in first:
            known, other = first[name]
            message = f"{kind} '{name}'{owner} has the name of the {known} in line {other.span.line}"
            yield Fault(item, message, expected="a name of its own")
        first.setdefault(name, (kind, item))


def enum_values(ctx: Context) -> Iterator[Fault]:
    for enum in ctx.spec.enums:
        first: dict[int, str] = {}
        for value in enum.values:
            if value.value in first:
                message = f"value {value.value} of '{value.name}' in enum '{enum.name}' belongs to '{first[value.value]}' already"
                free = max(v.value for v in enum.values) + 1
                yield Fault(value, message, "value", expected=f"a number of its own, such as {free}")
            first.setdefault(value.value, value.name)


def handle_prefix(ctx: Context) -> Iterator[Fault]:
    stem = ctx.spec.prefix.rstrip("_")
    for handle in ctx.spec.handles:
        if handle.c_name != stem and not handle.c_name.startswith(ctx.spec.prefix):
            message = f"the C name '{handle.c_name}' of handle '{handle.name}' does not begin with the library's prefix"
            yield Fault(handle, message, "c_name", expected=f"'{stem}', or a name that begins with '{ctx.spec.prefix}'")


def listed_twice(ctx: Context) -> Iterator[Fault]:
    for function in ctx.spec.functions:
        for key, names in (("results", function.results), ("errors", function.errors)):
            for name in dict.fromkeys(names):
                if names.count(name) > 1:
                    yield Fault(
                        function, f"'{key}' of function '{function.name}' lists '{name}' twice", key, name, "each status once"
                    )
