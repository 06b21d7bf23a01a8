"""Macros that stand for numbers, as constants."""

from __future__ import annotations

import re
from typing import Any

from specbind.cheader.names import Prefix
from specbind.cheader.types import SCALARS
from specbind.cheader.unit import TYPE, VALUE, Unit
from specbind.spec import model as m

FLOAT = re.compile(r"\(*\s*([-+]?\s*(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?)[fFlL]?\s*\)*")
VERSION = ("VERSION_MAJOR", "VERSION_MINOR", "VERSION_PATCH")


def constants(unit: Unit, prefix: Prefix, main: str) -> list[m.Constant]:
    """The numbers among a library's macros, those of other files by the prefix, in the order of the files."""
    values: dict[str, Any] = {}
    types: dict[str, Any] = {}
    for cursor in unit.cursor.get_children():
        if cursor.kind.name == "ENUM_DECL":
            values |= {each.spelling: each for each in cursor.get_children() if each.spelling.startswith(VALUE)}
        elif cursor.kind.name == "VAR_DECL" and cursor.spelling.startswith(TYPE):
            types[cursor.spelling.removeprefix(TYPE)] = cursor.type.get_canonical()
    found = []
    for macro in unit.macros.values():
        kind = types.get(macro.name)
        scalar = None if kind is None else number(kind)
        if scalar is None or not (macro.file == unit.own[main] or prefix.begins(macro.name)):
            continue
        value: m.Number | None
        if scalar.floating:
            literal = FLOAT.fullmatch(macro.text)
            value = float(literal[1].replace(" ", "")) if literal else None
        else:
            cursor = values.get(VALUE + macro.name)
            value = None if cursor is None else cursor.enum_value
        if value is not None:
            span = m.Span(macro.file, macro.line, macro.column)
            found.append(m.Constant(prefix.strip(macro.name), scalar, value, "", span))
    return found


def number(kind: Any) -> m.Scalar | None:
    """The model's number for the type of an expression; a `long` is as wide as here."""
    name = kind.kind.name
    if name in ("LONG", "ULONG"):
        name = ("" if name == "LONG" else "U") + ("INT" if kind.get_size() == 4 else "LONGLONG")
    return m.SCALARS[SCALARS[name]] if name in SCALARS else None


def version(constants: list[m.Constant]) -> tuple[str | None, list[m.Constant]]:
    """The version that the macros state, if they do, and the constants without it."""
    known = {constant.name: constant.value for constant in constants}
    if not known.keys() >= set(VERSION):
        return None, constants
    text = ".".join(str(known[name]) for name in VERSION)
    return text, [constant for constant in constants if constant.name not in (*VERSION, "VERSION")]
