"""Checks a tree against `schema.json`, the JSON Schema that editors use too.

The `jsonschema` package would answer yes or no as well, but takes longer to import than everything else here together,
knows no places, and words its errors for programmers. The schema keeps to the few keywords in `KEYWORDS`; a test has
`jsonschema` confirm that both agree.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from specbind.spec.diagnostics import Diagnostic, Place, near
from specbind.spec.source import Leaf, Map, Node, Seq, Source

SCHEMA = Path(__file__).with_name("schema.json")

# What this checker understands; `x-code` and `x-expected` say which code and words a wrong value gets.
KEYWORDS = frozenset({
    "$ref", "type", "const", "enum", "pattern", "minLength", "minItems", "items", "required", "properties",
    "additionalProperties", "x-code", "x-expected", "title", "description", "examples",
})  # fmt: skip

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


class Structure:
    """What the check found.

    Top-level items that are `broken`, by `id`, cannot be made into the model; nothing can if the file is not `sound`.
    """

    def __init__(self) -> None:
        self.found: list[Diagnostic] = []
        self.broken: set[int] = set()
        self.sound = True


def load_schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return schema


def check_structure(source: Source, root: Node | None) -> Structure:
    """Compare the tree of a whole file with the schema."""
    checker = Checker(source, load_schema())
    checker.value(root or Leaf(None, 0, 0), checker.schema, None, None)
    return checker.result


class Label(NamedTuple):
    """What a node is called in a message; put into words only when there is one. None is the file."""

    what: str
    owner: Label | None
    named: Node | None = None  # the entry of a list whose name goes into the words

    def __str__(self) -> str:
        name = self.named.get("name") if isinstance(self.named, Map) else None
        own = f"{self.what} '{name.value}'" if isinstance(name, Leaf) else self.what if self.named is None else f"a {self.what}"
        return own if self.owner is None else f"{own} of {self.owner}"


class Checker:
    """Walks tree and schema together. `item` is the entry of a top-level list around a node, None outside of one."""

    def __init__(self, source: Source, schema: dict[str, Any]) -> None:
        self.source = source
        self.schema = schema
        self.resolved: dict[int, dict[str, Any]] = {}
        self.result = Structure()

    def merged(self, schema: dict[str, Any]) -> dict[str, Any]:
        """A schema with its `$ref` put in."""
        known = self.resolved.get(id(schema))
        if known is None:
            target = self.schema["definitions"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else {}
            known = self.resolved[id(schema)] = {**target, **schema}
        return known

    def value(self, node: Node, schema: dict[str, Any], label: Label | None, item: Map | None) -> None:
        schema = self.merged(schema)
        if (fault := mismatch(node, schema)) is not None:
            code, expected = fault
            suggestion = near(str(node.value), schema["enum"]) if code == "SB013" and isinstance(node, Leaf) else ""
            message = f"{label or 'the file'} is {describe(node, self.source)}"
            self.report(schema.get("x-code", code), self.source.place(node), message, expected, suggestion)
            self.breaks(item)
        elif isinstance(node, Map):
            self.mapping(node, schema, label, item)
        elif isinstance(node, Seq):
            title = self.merged(schema["items"]).get("title")
            for child in node.items:
                inner = child if isinstance(child, Map) and item is None else item
                own = Label("an entry", label) if title is None else Label(title, label.owner if label else None, child)
                self.value(child, schema["items"], own, inner)

    def mapping(self, node: Map, schema: dict[str, Any], label: Label | None, item: Map | None) -> None:
        allowed: dict[str, Any] = schema["properties"]
        for key in schema["required"]:
            if key not in node.entries:
                message = f"{label or 'the file'} has no '{key}'"
                self.report("SB011", self.name_place(node), message, self.meaning(allowed[key]))
                if key not in HARMLESS_WHEN_MISSING:
                    self.breaks(item)
        for key, (leaf, child) in node.entries.items():
            if key in allowed:
                self.value(child, allowed[key], Label(f"'{key}'", label), item)
                continue
            suggestion = near(key, [k for k in allowed if k not in node.entries])
            message = f"unknown key '{key}' in {label or 'the file'}"
            self.report("SB012", self.source.place(leaf), message, f"one of {', '.join(allowed)}", suggestion)
            if suggestion:
                self.breaks(item)

    def name_place(self, node: Map) -> Place:
        """The name of an item, else its beginning."""
        name = node.get("name")
        return self.source.place(name if isinstance(name, Leaf) else node)

    def meaning(self, schema: dict[str, Any]) -> str:
        """What a key is for, in words."""
        return str(self.merged(schema).get("description", "")).rstrip(".")

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
        same = isinstance(node, Leaf) and type(node.value) is int and node.value == schema["const"]
        return None if same else ("SB010", schema["x-expected"])
    allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if json_type(node) not in allowed and not (json_type(node) == "integer" and "number" in allowed):
        return "SB010", schema.get("x-expected") or " or ".join(TYPE_NAMES[t] for t in allowed)
    if isinstance(node, Seq) and len(node.items) < schema.get("minItems", 0):
        return "SB015", "at least one entry"
    if isinstance(node, Leaf) and isinstance(node.value, str):
        if "minLength" in schema and len(node.value.strip()) < schema["minLength"]:
            return "SB015", schema.get("x-expected", "some text")
        if "enum" in schema and node.value not in schema["enum"]:
            return "SB013", " or ".join(schema["enum"])
        if "pattern" in schema and not re.fullmatch(schema["pattern"], node.value):
            return "SB014", schema["x-expected"]
    return None


JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def json_type(node: Node) -> str:
    """The JSON type of a node; 3.0 is a number but not whole, other than in JSON Schema."""
    if isinstance(node, Leaf):
        return JSON_TYPES[type(node.value)]
    return "object" if isinstance(node, Map) else "array"


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
