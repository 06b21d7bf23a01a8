"""How one type differs from another, as code on the other side of the boundary feels it."""

from __future__ import annotations

import re
from typing import NamedTuple

from specbind.diff.change import Pair
from specbind.layout.targets import TARGETS
from specbind.spec import model as m

LENGTH = re.compile(r"\[\d+\]")


class TypeChange(NamedTuple):
    """`how`: width, sign, enum (another one), typedef (the same number under another name), length (of an array in C), or type.

    `targets` are those where the width differs, empty if on all.
    """

    how: str
    targets: tuple[str, ...] = ()


class Number(NamedTuple):
    bits: int  # 0: as wide as a pointer
    signed: bool
    floating: bool


def as_number(kind: m.Type) -> Number | None:
    """What a type is in a register; None for pointers."""
    if isinstance(kind, m.Scalar):
        return Number(kind.bits, kind.signed, kind.floating)
    return Number(32, True, False) if isinstance(kind, m.Ref) and kind.kind == "enum" else None


def same_type(pair: Pair, old: m.Type, new: m.Type) -> bool:
    """Whether both are one type, perhaps under its new name."""
    if isinstance(old, m.Ref) and isinstance(new, m.Ref):
        return old.kind == new.kind and pair.renames.get((old.kind, old.name), old.name) == new.name
    return old == new


def type_change(pair: Pair, old: m.Type, new: m.Type) -> TypeChange | None:
    """How `new` differs from `old`, None if it does not."""
    if same_type(pair, old, new):
        return None
    before, after = as_number(old), as_number(new)
    if before is None or after is None or before.floating != after.floating:
        lengths = isinstance(old, m.CType) and isinstance(new, m.CType) and LENGTH.sub("[]", old.name) == LENGTH.sub("[]", new.name)
        return TypeChange("length" if lengths else "type")
    wider = tuple(
        target.name for target in TARGETS.values() if (before.bits or target.pointer * 8) != (after.bits or target.pointer * 8)
    )
    if wider:
        return TypeChange("width", wider if len(wider) < len(TARGETS) else ())
    if before.signed != after.signed:
        return TypeChange("sign")
    return TypeChange("enum" if isinstance(old, m.Ref) and isinstance(new, m.Ref) else "typedef")


def type_name(kind: m.Type | None) -> str:
    return "void" if kind is None else kind.name


def part_text(part: m.Field | m.Param) -> str:
    """A field or parameter in the words of the spec: `out i32[capacity] tokens`."""
    array = f"[{part.array}]" if part.array else ""
    direction = part.direction + " " if isinstance(part, m.Param) and part.direction != "in" else ""
    pointer = " *" if isinstance(part, m.Param) and part.passing is m.Passing.ADDRESS_OUT else ""
    return f"{direction}{part.type.name}{array}{pointer} {part.name}".strip()
