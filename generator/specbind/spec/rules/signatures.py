"""What may stand in a signature, and how. The reasons are those of the ABI rules in `docs/spec.md`."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.spec import model as m
from specbind.spec.rules.context import Context, Fault, Owner, Part, called, kind_of, listing

P = m.Passing

# kind of type -> ways in which a parameter of it can be passed
WAYS: dict[str, tuple[str, ...]] = {
    "scalar": ("in", "out", "array in", "array out", "pointer out"),
    "enum": ("in", "out", "array in", "array out", "pointer out"),
    "str": ("in", "out", "array in"),
    "pointer": ("in",),
    "handle": ("in", "out"),
    "foreign": ("in", "out"),
    "callback": ("in",),
    "struct": ("in", "out", "inout", "init", "array in", "array out"),
}
CALLBACK_WAYS = ("in", "array in")
FIELD_ARRAYS = ("scalar", "enum", "str", "struct")
RESULTS = {"function": ("scalar", "enum", "str"), "callback": ("scalar", "enum")}


def swappable(ctx: Context) -> Iterator[Fault]:
    """Parameters that a caller could exchange without any compiler noticing."""
    for owner in ctx.signatures:
        linked = {name for p in owner.params for name in (p.array, p.count) if name is not None}
        first: dict[tuple[object, ...], m.Param] = {}
        for param in owner.params:
            if param.name in linked:
                continue  # told apart by what it is the length of
            key = (param.type, param.passing, param.role, param.which)
            if key in first:
                known = "the role '" + param.role + "'" if param.role else "no role"
                yield Fault(
                    param,
                    f"{called(param, owner)} has the type of '{first[key].name}', and both have {known}",
                    "role",
                    expected="different roles, or the same role and a different 'which'",
                )
            first.setdefault(key, param)


def by_value(ctx: Context) -> Iterator[Fault]:
    for owner, part in ctx.parts():
        if kind_of(part.type) == "struct" and part.array is None and ctx.written(part, "direction") is None:
            pointer = "a pointer to a struct that is read"
            expected = f"direction: in for {pointer}" + ("" if isinstance(part, m.Field) else ", or out, inout or init")
            yield Fault(part, f"{called(part, owner)} is a struct by value", "type", expected=expected)
    for item in ctx.signatures:
        if item.returns is not None and kind_of(item.returns) == "struct":
            message = f"'{item.name}' returns the struct '{item.returns.name}' by value"
            yield Fault(item, message, "returns", expected="a parameter with direction out")


def results(ctx: Context) -> Iterator[Fault]:
    for item in ctx.signatures:
        kind = "function" if isinstance(item, m.Function) else "callback"
        returned = None if item.returns is None else kind_of(item.returns)
        if returned in (None, "struct", "unknown", *RESULTS[kind]):
            continue
        handle = "a parameter with direction out: a status says why there is no object"
        expected = handle if returned in ("handle", "foreign") else f"void, {', '.join(RESULTS[kind])}"
        yield Fault(item, f"{kind} '{item.name}' returns a {returned}", "returns", expected=expected)


def ways(ctx: Context) -> Iterator[Fault]:
    for owner, param in ctx.params():
        kind, way = kind_of(param.type), way_of(ctx, param)
        allowed = WAYS.get(kind, (way,))
        if isinstance(owner, m.Callback):
            allowed = tuple(w for w in allowed if w in CALLBACK_WAYS)
        if way not in allowed:
            key = next(k for k in ("pointer", "array", "direction", "type") if ctx.written(param, k))
            what = f"a {kind} in a callback" if isinstance(owner, m.Callback) else f"a {kind}"
            yield Fault(
                param, f"{called(param, owner)}: {what} cannot be passed as '{way}'", key, expected=f"one of {listing(allowed)}"
            )
    for struct, field in ctx.fields():
        kind = kind_of(field.type)
        if field.array is not None and kind not in (*FIELD_ARRAYS, "unknown"):
            yield Fault(
                field, f"{called(field, struct)} is an array of {kind}s", "array", expected=f"an array of {listing(FIELD_ARRAYS)}"
            )
        if ctx.written(field, "direction") is not None and kind not in ("struct", "unknown"):
            message = f"{called(field, struct)} has a direction but no struct type"
            yield Fault(field, message, "direction", expected="no direction")


def way_of(ctx: Context, param: m.Param) -> str:
    """Direction with `array` or `pointer` before it, as in `WAYS`."""
    words = [key for key in ("array", "pointer") if ctx.written(param, key)]
    return " ".join([*words, param.direction])


def nullable_values(ctx: Context) -> Iterator[Fault]:
    for owner, part in ctx.parts():
        if not part.nullable or kind_of(part.type) == "unknown":
            continue
        plain = kind_of(part.type) in ("scalar", "enum") and part.array is None
        if isinstance(part, m.Param) and plain:
            plain = part.passing is P.VALUE
        if plain:
            yield Fault(part, f"{called(part, owner)} is a number, which cannot be NULL", "nullable", expected="no nullable")
        elif isinstance(part, m.Param) and part.passing in (P.ARRAY_OUT, P.STRUCT_INIT, P.ADDRESS_OUT):
            message = f"{called(part, owner)} is where the result goes, so NULL would make the call useless"
            expected = "no nullable; a buffer may be NULL anyway while its capacity is 0" if part.array else "no nullable"
            yield Fault(part, message, "nullable", expected=expected)


def sequences(ctx: Context) -> Iterator[Fault]:
    for owner, part in ctx.parts():
        if part.role == "sequence" and part.type != m.SCALARS["i32"]:
            message = f"{called(part, owner)} is a sequence id but has the type '{part.type.name}'"
            yield Fault(part, message, "type", expected="i32")
        if isinstance(part, m.Param) and part.all_sequences and part.role != "sequence":
            yield Fault(
                part, f"{called(part, owner)} has 'all' but is no sequence id", "all", expected="role: sequence, or no 'all'"
            )
        if isinstance(part, m.Param) and part.which is not None and part.role is None:
            yield Fault(
                part, f"{called(part, owner)} has 'which' but no role", "which", expected="a role that several parameters have"
            )


def user_pointers(ctx: Context) -> Iterator[Fault]:
    for callback in ctx.spec.callbacks:
        pointers = [p for p in callback.params if kind_of(p.type) == "pointer"]
        if not pointers or pointers[-1] is not callback.params[-1]:
            message = f"callback '{callback.name}' does not end in a user pointer, so that it cannot know whom it speaks to"
            yield Fault(callback, message, expected="a last parameter of type pointer")
        for param in pointers:
            if param is not callback.params[-1]:
                message = f"{called(param, callback)} is a pointer to nobody knows what"
                yield Fault(param, message, "type", expected="a type; only the last is the user pointer")
    owners: tuple[Owner, ...] = (*ctx.spec.functions, *ctx.spec.structs)
    for owner in owners:
        members: tuple[Part, ...] = owner.fields if isinstance(owner, m.Struct) else owner.params
        kinds = ["", *(kind_of(part.type) for part in members), ""]
        for part, (before, kind, behind) in zip(members, zip(kinds, kinds[1:], kinds[2:], strict=False), strict=True):
            if kind == "callback" and behind != "pointer":
                message = f"{called(part, owner)} is a callback without its user pointer behind it"
                yield Fault(part, message, expected="a next one of type pointer")
            if kind == "pointer" and before != "callback":
                message = f"{called(part, owner)} is a pointer to nobody knows what"
                yield Fault(part, message, "type", expected="a type; only the user pointer behind a callback has none")
