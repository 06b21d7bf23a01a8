"""Parts of the language that a back end may lack, and where a spec uses them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from specbind.spec import model as m

P = m.Passing


class Use(NamedTuple):
    """One use of a feature: `what` names the item in words."""

    feature: str
    item: Any  # an item of the model, with a span
    what: str


def is_kind(kind: m.Type, *kinds: str) -> bool:
    return isinstance(kind, m.Ref) and kind.kind in kinds


# feature -> whether a parameter or field uses it
OF_PARTS: dict[str, Callable[[m.Param | m.Field], bool]] = {
    "64-bit integers": lambda p: isinstance(p.type, m.Scalar) and not p.type.floating and p.type.bits == 64,
    "callbacks": lambda p: is_kind(p.type, "callback"),
    "foreign types": lambda p: is_kind(p.type, "foreign"),
    "arrays of strings": lambda p: p.array is not None and isinstance(p.type, m.Str),
    "arrays of structs": lambda p: p.array is not None and is_kind(p.type, "struct"),
    "structs in structs": lambda p: isinstance(p, m.Field) and p.array is None and is_kind(p.type, "struct"),
    "inout structs": lambda p: isinstance(p, m.Param) and p.passing is P.STRUCT_INOUT,
    "borrowed arrays out": lambda p: isinstance(p, m.Param) and p.passing is P.ADDRESS_OUT,
    "borrowed strings out": lambda p: isinstance(p, m.Param) and p.passing is P.SCALAR_OUT and isinstance(p.type, m.Str),
    "default arguments": lambda p: isinstance(p, m.Param) and p.default is not None,
    "transferred objects": lambda p: isinstance(p, m.Param) and p.ownership == "transferred" and is_kind(p.type, "foreign"),
}

FEATURES = (*OF_PARTS, "flags", "callbacks from any thread", "functions for any thread", "deprecation", "frozen structs")


def used_features(spec: m.Spec) -> Iterator[Use]:
    """Every use of every feature, in the order of the spec."""
    for enum in spec.enums:
        if enum.flags:
            yield Use("flags", enum, f"enum '{enum.name}'")
        yield from (Use("deprecation", v, f"value '{v.name}' of '{enum.name}'") for v in enum.values if v.deprecated)
    for callback in spec.callbacks:
        if callback.thread == "any":
            yield Use("callbacks from any thread", callback, f"callback '{callback.name}'")
        yield from of_parts("parameter", callback.name, callback.params)
    for struct in spec.structs:
        if not struct.growable:
            yield Use("frozen structs", struct, f"struct '{struct.name}'")
        if struct.deprecated:
            yield Use("deprecation", struct, f"struct '{struct.name}'")
        yield from (Use("deprecation", f, f"field '{f.name}' of '{struct.name}'") for f in struct.fields if f.deprecated)
        yield from of_parts("field", struct.name, struct.fields)
    for function in spec.functions:
        if function.threads == "any":
            yield Use("functions for any thread", function, f"function '{function.name}'")
        if function.deprecated:
            yield Use("deprecation", function, f"function '{function.name}'")
        yield from of_parts("parameter", function.name, function.params)


def of_parts(kind: str, owner: str, parts: tuple[m.Param, ...] | tuple[m.Field, ...]) -> Iterator[Use]:
    for part in parts:
        yield from (Use(f, part, f"{kind} '{part.name}' of '{owner}'") for f, uses in OF_PARTS.items() if uses(part))
