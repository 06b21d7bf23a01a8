"""Checks a tree against `schema.json`, the JSON Schema that editors use too.

The `jsonschema` package would answer yes or no as well, but takes longer to import than everything else here together,
knows no places, and words its errors for programmers. The schema keeps to the few keywords in `KEYWORDS`; a test has
`jsonschema` confirm that both agree.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specbind.spec.diagnostics import Diagnostic, Place, near
from specbind.spec.source import Leaf, Map, Node, Seq, Source

SCHEMA = Path(__file__).with_name("schema.json")

# What this checker understands; `x-code` and `x-expected` say which code and words a wrong value gets.
KEYWORDS = frozenset(
    """$ref type const enum pattern minLength minItems items required properties additionalProperties
    x-code x-expected title description examples""".split()
)

TYPE_NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "keys and values",
}

# Keys whose absence leaves an item that can still be checked further.
HARMLESS_WHEN_MISSING = frozenset({"doc", "title"})


@dataclass
class Structure:
    """What the check found. Items that are `broken` (by `id`) cannot be made into the model; `sound` is false if whole lists cannot."""

    found: list[Diagnostic] = field(default_factory=list)
    broken: set[int] = field(default_factory=set)
    sound: bool = True


def load_schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return schema


def check_structure(source: Source, root: Node | None) -> Structure:
    """Compare the tree of a whole file with the schema."""
    checker = Checker(source, load_schema())
    checker.value(root or Leaf(None, 1, 1, 0, 0), checker.schema, "the file", None)
    return checker.result


class Checker:
    """Walks tree and schema together. `label` says in words what a node is; `item` is the entry of a top-level list around it."""

    def __init__(self, source: Source, schema: dict[str, Any]) -> None:
        self.source = source
        self.schema = schema
        self.definitions: dict[str, dict[str, Any]] = {
            name: self.merged(definition) for name, definition in schema["definitions"].items()
        }
        self.result = Structure()

    def merged(self, schema: dict[str, Any]) -> dict[str, Any]:
        """A schema with its `$ref` put in."""
        if "$ref" not in schema:
            return schema
        return {**self.schema["definitions"][schema["$ref"].rpartition("/")[2]], **schema}

    def value(self, node: Node, schema: dict[str, Any], label: str, item: Map | None) -> None:
        schema = self.merged(schema)
        if (fault := mismatch(node, schema)) is not None:
            code, expected = fault
            self.report(
                schema.get("x-code", code) if code != "SB015" else code,
                self.source.place(node),
                f"{label} is {describe(node, self.source)}",
                expected,
                near(str(node.value), schema["enum"]) if code == "SB013" and isinstance(node, Leaf) else "",
            )
            self.breaks(item)
        elif isinstance(node, Map):
            self.mapping(node, schema, label, item)
        elif isinstance(node, Seq):
            for child in node.items:
                inner = child if isinstance(child, Map) and item is None else item
                self.value(child, schema["items"], self.entry_label(child, schema["items"], label), inner)

    def mapping(self, node: Map, schema: dict[str, Any], label: str, item: Map | None) -> None:
        allowed: dict[str, Any] = schema["properties"]
        for key in schema["required"]:
            if key not in node.entries:
                self.report("SB011", self.name_place(node), f"{label} has no '{key}'", self.meaning(allowed[key]))
                if key not in HARMLESS_WHEN_MISSING:
                    self.breaks(item)
        for key, (leaf, child) in node.entries.items():
            if key in allowed:
                inner = label if "properties" in self.merged(allowed[key]) else f"'{key}' of {label}"
                self.value(child, allowed[key], f"'{key}'" if label == "the file" else inner, item)
                continue
            suggestion = near(key, [k for k in allowed if k not in node.entries])
            expected = f"one of {', '.join(allowed)}"
            self.report("SB012", self.source.place(leaf), f"unknown key '{key}' in {label}", expected, suggestion)
            if suggestion:
                self.breaks(item)

    def entry_label(self, node: Node, schema: dict[str, Any], parent: str) -> str:
        """`field 'n' of struct 's'` for an entry of a list, by its title and name."""
        title = self.merged(schema).get("title", "an entry")
        name = node.get("name") if isinstance(node, Map) else None
        own = f"{title} '{name.value}'" if isinstance(name, Leaf) else f"a {title}" if title != "an entry" else title
        owner = parent.removeprefix(parent.split(" of ")[0] + " of ") if " of " in parent else ""
        return f"{own} of {owner}" if owner else own if title != "an entry" else f"an entry of {parent}"

    def name_place(self, node: Map) -> Place:
        """The name of an item, else its beginning."""
        name = node.get("name")
        return self.source.place(name if isinstance(name, Leaf) else node)

    def meaning(self, schema: dict[str, Any]) -> str:
        merged = self.merged(schema)
        return str(schema.get("description") or merged.get("description") or merged.get("x-expected", "")).rstrip(".")

    def report(self, code: str, place: Place, message: str, expected: str, suggestion: str = "") -> None:
        self.result.found.append(self.source.diagnostic(code, place, message, expected, suggestion))

    def breaks(self, item: Map | None) -> None:
        if item is None:
            self.result.sound = False
        else:
            self.result.broken.add(id(item))


def mismatch(node: Node, schema: dict[str, Any]) -> tuple[str, str] | None:
    """Code and expectation if a node itself, not what is inside it, goes against `schema`."""
    if "const" in schema:
        same = isinstance(node, Leaf) and node.value == schema["const"] and not isinstance(node.value, bool)
        return None if same else ("SB010", schema["x-expected"])
    allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(is_of_type(node, t) for t in allowed):
        return "SB010", schema.get("x-expected") or " or ".join(TYPE_NAMES[t] for t in allowed)
    size = len(node.items) if isinstance(node, Seq) else len(str(node.value).strip()) if isinstance(node, Leaf) else 1
    if size < max(schema.get("minLength", 0), schema.get("minItems", 0)):
        return "SB015", schema.get("x-expected") or ("at least one entry" if isinstance(node, Seq) else "some text")
    if isinstance(node, Leaf):
        if "enum" in schema and node.value not in schema["enum"]:
            return "SB013", " or ".join(schema["enum"])
        if "pattern" in schema and not re.search(schema["pattern"], str(node.value)):
            return "SB014", schema["x-expected"]
    return None


def is_of_type(node: Node, name: str) -> bool:
    """Whether a node has the JSON type `name`. A whole number is also a number; 3.0 is not a whole number here."""
    if not isinstance(node, Leaf):
        return name == ("object" if isinstance(node, Map) else "array")
    value = node.value
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, {"string": str, "integer": int, "number": (int, float)}.get(name, ()))


def describe(node: Node, source: Source) -> str:
    """A node in words, as it is written."""
    if isinstance(node, Map):
        return "keys and values"
    if isinstance(node, Seq):
        return "a list" if node.items else "an empty list"
    if node.value is None:
        return "empty"
    written = source.text[node.start : node.end].split("\n", 1)[0].strip()
    if isinstance(node.value, str):
        return f"the text '{node.value}'" if "\n" not in node.value and len(node.value) <= 60 else "a longer text"
    return written if isinstance(node.value, bool) else f"the number {written}"
