"""The safe layer's values: enums, errors, results and the keyword arguments that come from the spec."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from specbind.emit.python.naming import NOT_KEYWORDS, RESULTS, error_name, hint, identifier, is_bool, literal, type_name
from specbind.spec import model as m

WIDTH = 112

# What else an error is, for programs that catch Python's own types.
ALSO = {"ERROR_INVALID_ARGUMENT": "ValueError", "ERROR_NO_MEMORY": "MemoryError"}


def doc_lines(text: str, indent: int = 0) -> list[str]:
    """Documentation as wrapped lines; names in backticks stay as they are."""
    lines: list[str] = []
    for block in text.strip().split("\n\n"):
        lines += [""] if lines else []
        lines += textwrap.wrap(" ".join(block.split()), WIDTH - indent, break_long_words=False, break_on_hyphens=False)
    return lines


def sentence(item: m.Field | m.Param) -> str:
    """Doc, unit and range of a value in one sentence."""
    facts = [] if is_bool(item) or not item.unit else [item.unit]
    if item.min is not None and item.max is not None and not is_bool(item):
        facts.append(f"{item.min} to {item.max}")
    return re.sub(r"\bNULL\b", "None", item.doc) + (f" ({', '.join(facts)})" if facts else "")


def enum_values(spec: m.Spec) -> list[dict[str, Any]]:
    return [
        {
            "name": type_name(e.name),
            "doc": doc_lines(e.doc, 4),
            "flags": e.flags,
            "values": [{"name": v.name, "value": v.value, "doc": v.doc} for v in e.values],
        }
        for e in spec.enums
    ]


def errors(spec: m.Spec) -> list[dict[str, Any]]:
    return [
        {"name": error_name(v), "status": v.name, "doc": doc_lines(v.doc, 4), "also": ALSO.get(v.name)}
        for v in spec.status.values
        if v.value < 0
    ]


def results(spec: m.Spec) -> list[dict[str, Any]]:
    return [
        {
            "name": python,
            "struct": struct,
            "doc": doc_lines(spec.struct(struct).doc, 4),
            "fields": [
                {"name": identifier(f.name), "hint": hint(f), "doc": sentence(f), "kind": field_kind(f)}
                for f in spec.struct(struct).fields
                if f.name not in ("struct_size", "reserved")
            ],
        }
        for struct, python in RESULTS.items()
    ]


def field_kind(field: m.Field) -> str:
    """How a value comes out of C: plain, bool, text, or the name of an enum."""
    if is_bool(field):
        return "bool"
    if isinstance(field.type, m.Str):
        return "text"
    if isinstance(field.type, m.Ref) and field.type.kind == "enum":
        return type_name(field.type.name)
    return "plain"


def keywords(spec: m.Spec, struct: str) -> list[dict[str, Any]]:
    """Keyword arguments that fill a struct, with the spec's defaults."""
    return [
        {"name": identifier(f.name), "hint": hint(f), "default": literal(f), "doc": doc_lines(f"{f.name}: {sentence(f)}", 12)}
        for f in spec.struct(struct).fields
        if f.name not in NOT_KEYWORDS
    ]
