"""Who releases what, and how long borrowed data lives."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.spec import model as m
from specbind.spec.rules.context import Context, Fault, called, kind_of

P = m.Passing
OBJECTS = ("handle", "foreign")
INTO_LIBRARY = (P.STRUCT_IN, P.STRUCT_INOUT, P.STRUCT_INIT, P.ARRAY_IN)


def without_release(ctx: Context) -> Iterator[Fault]:
    foreign = {f.name: f for f in ctx.spec.foreign}
    for owner, param in ctx.params():
        declared = foreign.get(param.type.name)
        if param.passing is P.OBJECT_OUT and param.ownership == "owned" and declared and declared.release is None:
            message = f"{called(param, owner)} gives the caller a '{declared.name}' that nothing releases"
            yield Fault(param, message, "ownership", expected=f"'release' of foreign type '{declared.name}'")


def not_stated(ctx: Context) -> Iterator[Fault]:
    for owner, param in ctx.params():
        if param.ownership is not None or kind_of(param.type) not in OBJECTS:
            continue
        if param.passing is P.OBJECT_OUT:
            message = f"{called(param, owner)} gives an object out without saying to whom it belongs"
            yield Fault(param, message, expected="ownership: owned or borrowed")
        elif kind_of(param.type) == "foreign" and param.passing is P.VALUE:
            message = f"{called(param, owner)} takes an object of another library without saying to whom it belongs then"
            yield Fault(param, message, expected="ownership: borrowed or transferred")


def impossible(ctx: Context) -> Iterator[Fault]:
    # A handle whose release function does not exist is reported for that.
    releases = {h.name: h.release for h in ctx.spec.handles if ctx.declares("function", h.release)}
    for owner, param in ctx.params():
        if param.ownership is None or kind_of(param.type) == "unknown":
            continue
        what = called(param, owner)
        if kind_of(param.type) not in OBJECTS:
            yield Fault(param, f"{what} has an ownership but is no object", "ownership", expected="no ownership")
        elif param.ownership == "owned" and param.passing is not P.OBJECT_OUT:
            message = f"{what} goes in, so that the caller cannot come to own it"
            yield Fault(param, message, "ownership", expected="borrowed or transferred")
        elif param.ownership == "transferred" and param.passing is P.OBJECT_OUT:
            yield Fault(
                param, f"{what} comes out, so that it cannot end with the call", "ownership", expected="owned or borrowed"
            )
        elif param.ownership == "transferred" and releases.get(param.type.name, owner.name) != owner.name:
            message = f"{what} ends with the call, but '{owner.name}' is not the release function of '{param.type.name}'"
            yield Fault(param, message, "ownership", expected="borrowed, or this function as the handle's release")


def without_lifetime(ctx: Context) -> Iterator[Fault]:
    for function in ctx.spec.functions:
        if isinstance(function.returns, m.Str) and function.returns_lifetime is None:
            message = f"function '{function.name}' returns a string without saying how long it lives"
            yield Fault(function, message, "returns", expected="returns_lifetime, such as static")
    for owner, param in ctx.params():
        comes_out = (
            param.passing is P.ADDRESS_OUT
            or (param.passing is P.OBJECT_OUT and param.ownership == "borrowed")
            or (isinstance(param.type, m.Str) and (param.passing is P.SCALAR_OUT or isinstance(owner, m.Callback)))
        )
        if comes_out and param.lifetime is None:
            message = f"{called(param, owner)} is borrowed data without a lifetime"
            yield Fault(param, message, expected="lifetime, such as static, the call, or the next decode")
    filled = filled_structs(ctx)
    for struct, field in ctx.fields():
        pointer = field.array is not None or kind_of(field.type) in (*OBJECTS, "str", "struct")
        if struct.name in filled and pointer and field.lifetime is None:
            message = f"{called(field, struct)} is borrowed data without a lifetime, in a struct that the library fills in"
            yield Fault(field, message, expected="lifetime, such as static or the next call on the session")


def filled_structs(ctx: Context) -> set[str]:
    """Names of structs that the library writes: through out parameters, or as what a callback gets."""
    return {
        param.type.name
        for owner, param in ctx.params()
        if param.passing in (P.STRUCT_OUT, P.STRUCT_INOUT) or (isinstance(owner, m.Callback) and param.passing is P.STRUCT_IN)
    }


def lifetime_of_values(ctx: Context) -> Iterator[Fault]:
    for function in ctx.spec.functions:
        if function.returns_lifetime is not None and not isinstance(function.returns, m.Str):
            message = f"function '{function.name}' has a lifetime for a result that is no string"
            yield Fault(function, message, "returns_lifetime", expected="no returns_lifetime")
    for owner, part in ctx.parts():
        by_value = kind_of(part.type) in ("scalar", "enum") and part.array is None
        if isinstance(part, m.Param) and part.passing is P.ADDRESS_OUT:
            by_value = False
        if part.lifetime is not None and by_value:
            yield Fault(part, f"{called(part, owner)} has a lifetime but is copied", "lifetime", expected="no lifetime")
