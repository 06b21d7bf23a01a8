"""Breaks that somebody answers for: read from YAML, set against the findings, and refused when they no longer fit."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path

from specbind.diff.finding import Finding, Waiver
from specbind.diff.rules import grades
from specbind.spec.diagnostics import Diagnostic, SpecError
from specbind.spec.model import Span
from specbind.spec.source import Map, Source, open_source, read

SCHEMA = Path(__file__).with_name("waivers.schema.json")
FILE = Path("ci", "abi-waivers.yaml")


def load(path: Path) -> tuple[Waiver, ...]:
    """The waivers of a file; SpecError with all mistakes in it."""
    source, found = open_source(path)
    root, faults = (None, found) if found else read(source)
    if not faults:
        from specbind.spec.source import Leaf
        from specbind.spec.structure import Checker

        schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
        schema["definitions"]["waiver"]["properties"]["rule"]["enum"] = list(grades())
        checker = Checker(source, schema)
        checker.value(root or Leaf(None, 0, 0), schema, None, None)
        faults = checker.result.found
    if faults or not isinstance(root, Map):
        raise SpecError(faults)
    nodes = root.entries["waivers"][1].items
    faults = [fault for node in nodes for fault in impossible_dates(source, node)]
    if faults:
        raise SpecError(faults)
    return tuple(waiver(source, node) for node in nodes)


def impossible_dates(source: Source, node: Map) -> list[Diagnostic]:
    leaf = node.entries["expires"][1]
    try:
        date.fromisoformat(leaf.value)
    except ValueError:
        return [source.diagnostic("SB014", source.place(leaf), f"there is no day {leaf.value}", "a date such as 2027-03-31")]
    return []


def waiver(source: Source, node: Map) -> Waiver:
    values = {key: child.value for key, (_, child) in node.entries.items()}
    return Waiver(**values, span=Span(source.file, *source.position(node.start)))


def apply(findings: Iterable[Finding], waivers: Iterable[Waiver], today: date) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """The findings with their waivers, and a message for each waiver that expired or matches nothing."""
    known = {(each.rule, each.item): each for each in waivers}
    expired = {key for key, each in known.items() if date.fromisoformat(each.expires) < today}
    result = []
    unused = set(known)
    for finding in findings:
        key = finding.rule, finding.item
        unused.discard(key)
        result.append(replace(finding, waiver=known[key]) if key in known and key not in expired else finding)
    errors = [
        f"{place(each)}: the waiver of {each.rule} for '{each.item}' expired on {each.expires}; {each.owner} answers for it"
        if key in expired
        else f"{place(each)}: the waiver of {each.rule} for '{each.item}' matches no finding: remove it"
        for key, each in known.items()
        if key in expired or key in unused
    ]
    return tuple(result), tuple(errors)


def place(each: Waiver) -> str:
    return f"{each.span.file}:{each.span.line}:{each.span.column}"
