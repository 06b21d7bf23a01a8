"""Python names of everything in a spec."""

from __future__ import annotations

import keyword

from specbind.spec import model as m

RESERVED = frozenset(keyword.kwlist) | {"None", "True", "False", "self", "cls"}

# Structs that a caller reads, under the names that Python users know them by.
RESULTS = {
    "build_details": "BuildInfo",
    "needs": "Requirements",
    "selection": "Selection",
    "seq_status": "SeqInfo",
    "counters": "Stats",
    "gen_result": "GenResult",
}

# Fields that the session's constructor does not take as they are.
NOT_KEYWORDS = {"struct_size", "reserved", "model", "speculative", "progress", "progress_user"}


def type_name(name: str) -> str:
    """`seq_state` -> `SeqState`."""
    return "".join(part.capitalize() for part in name.split("_"))


def identifier(name: str) -> str:
    """A name that is a word of the language gets an underscore behind it."""
    return f"{name}_" if name in RESERVED else name


def error_name(value: m.EnumValue) -> str:
    """`ERROR_ROUND_OPEN` -> `RoundOpenError`."""
    return type_name(value.name.removeprefix("ERROR_").lower()) + "Error"


def is_bool(item: m.Field | m.Param) -> bool:
    return item.unit == "boolean"


def hint(item: m.Field) -> str:
    """Type hint of a struct field."""
    kind = item.type
    if is_bool(item):
        return "bool"
    if isinstance(kind, m.Str):
        return "str | None" if item.nullable else "str"
    if isinstance(kind, m.Scalar):
        return "float" if kind.floating else "int"
    if isinstance(kind, m.Ref) and kind.kind == "enum":
        return type_name(kind.name)
    return "object"


def literal(item: m.Field) -> str:
    """Default of a struct field as Python text."""
    if item.default is None:
        return "None" if item.nullable else "0"
    if is_bool(item):
        return str(bool(item.default))
    if isinstance(item.type, m.Scalar) and item.type.floating:
        return repr(float(item.default))
    return repr(item.default) if not isinstance(item.default, str) else f'"{item.default}"'
