"""YAML text as a tree in which every key and value knows its place.

The tree is made from libyaml's events: PyYAML's own loader throws the places away, and its node trees hide duplicate
keys and aliases. Scalars are read as YAML 1.2 says (`true` and `false` are the only booleans, `OFF` is text), which is
also what editors show. Anchors, aliases, tags and further documents are refused: a reader of a spec should find each
fact where it is used.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from pathlib import Path
from typing import Any, NamedTuple

from specbind.spec.diagnostics import Diagnostic, Place
from specbind.spec.model import Span

Scalar = str | int | float | bool | None


class Leaf(NamedTuple):
    """A scalar. `start` and `end` are indices into the text, quotes included."""

    value: Scalar
    start: int
    end: int


class Seq(NamedTuple):
    items: list[Any]
    start: int


class Map(NamedTuple):
    """A mapping: text of the key -> the key's leaf and the value."""

    entries: dict[str, tuple[Leaf, Any]]
    start: int

    def get(self, key: str) -> Node | None:
        entry = self.entries.get(key)
        return None if entry is None else entry[1]


Node = Leaf | Seq | Map


class Source(NamedTuple):
    """Text of a file. `starts` are the indices of its lines."""

    file: str
    text: str
    starts: list[int]

    def position(self, index: int) -> tuple[int, int]:
        """Line and column of a character, both from 1."""
        line = bisect_right(self.starts, index)
        return line, index - self.starts[line - 1] + 1

    def place(self, node: Node) -> Place:
        """Where a caret goes: below a whole scalar, or below the first key or bracket of anything else."""
        if isinstance(node, Map) and node.entries and self.text[node.start] != "{":
            node = next(iter(node.entries.values()))[0]
        text = self.text[node.start : node.end].split("\n", 1)[0].rstrip() if isinstance(node, Leaf) else ""
        return self.at(node.start, max(1, len(text)))

    def at(self, index: int, length: int) -> Place:
        """Place of `length` characters from `index`."""
        return Place(*self.position(index), length)

    def line(self, number: int) -> str:
        """A line without its end."""
        end = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[self.starts[number - 1] : end].rstrip("\r\n")

    def diagnostic(self, code: str, place: Place, message: str, expected: str = "", suggestion: str = "") -> Diagnostic:
        span = Span(self.file, place.line, place.column)
        return Diagnostic(code, span, place.length, message, expected, suggestion, self.line(place.line))


LINE_BREAK = re.compile(r"\r\n|\r|\n")

# Characters that YAML forbids, three that it counts as line breaks while editors do not, and those that show text in
# another order than compilers read it.
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffe\uffff]")

# Plain scalars of the YAML 1.2 core schema that are not text.
INTEGER = re.compile(r"[-+]?[0-9]{1,40}|0x[0-9a-fA-F]{1,40}")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
WORDS: dict[str, Scalar] = {"": None, "~": None, "null": None, "true": True, "false": False}
WORDS |= {word: WORDS[word.lower()] for word in ("Null", "NULL", "True", "TRUE", "False", "FALSE")}


def open_source(path: Path) -> tuple[Source, list[Diagnostic]]:
    """The text of a file; with diagnostics, and no text, if it is not one."""
    empty = make_source(str(path), "")
    try:
        data = path.read_bytes()
    except OSError as error:
        return empty, [empty.diagnostic("SB001", Place(1, 1, 1), f"the file cannot be read: {error.strerror}", "a text file")]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        source = make_source(str(path), data.decode("utf-8", errors="replace"))
        place = source.at(len(data[: error.start].decode("utf-8")), 1)
        message = f"byte 0x{data[error.start]:02x} is not UTF-8"
        return empty, [source.diagnostic("SB001", place, message, "a text file in UTF-8")]
    return make_source(str(path), text.removeprefix("\ufeff")), []


def make_source(file: str, text: str) -> Source:
    return Source(file, text, [0, *(match.end() for match in LINE_BREAK.finditer(text))])


def read(source: Source) -> tuple[Node | None, list[Diagnostic]]:
    """The tree of a text, None if it does not parse or is empty."""
    import yaml

    if unprintable := UNPRINTABLE.search(source.text):
        message = f"the file holds the character U+{ord(unprintable[0]):04X}"
        place = source.at(unprintable.start(), 1)
        return None, [source.diagnostic("SB001", place, message, "printable characters, spaces and newlines")]
    reader = TreeReader(source)
    try:
        for event in yaml.parse(source.text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        return None, [*reader.found, unparsable(source, error)]
    return reader.root, reader.found


def unparsable(source: Source, error: Any) -> Diagnostic:
    """What the parser says, at the place where it stopped."""
    mark = error.problem_mark or error.context_mark
    # The end of the file is behind the last line: show the last character instead.
    place = source.at(min(mark.index, max(0, len(source.text.rstrip()) - 1)), 1)
    message = f"the YAML does not parse: {error.problem or error.context}"
    if error.context and error.context_mark:
        message += f", {error.context} that begins at line {error.context_mark.line + 1}"
    return source.diagnostic("SB002", place, message)


class TreeReader:
    """Builds the tree from events, without recursion, so that no input is too deep."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.root: Node | None = None
        self.found: list[Diagnostic] = []
        self.open: list[Seq | Map] = []
        self.keys: list[Leaf | None] = []  # for each open container the key that waits for its value
        self.anchors: dict[str, Node] = {}

    def take(self, event: Any) -> None:
        """Handle one event of the parser."""
        kind = type(event).__name__
        if kind == "ScalarEvent":
            value = event.value if event.style else resolve(event.value)
            self.add(Leaf(value, event.start_mark.index, event.end_mark.index), event)
        elif kind == "MappingStartEvent":
            self.enter(Map({}, event.start_mark.index), event)
        elif kind == "SequenceStartEvent":
            self.enter(Seq([], event.start_mark.index), event)
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            self.open.pop()
            self.keys.pop()
        elif kind == "AliasEvent":
            self.refuse(event, len(event.anchor) + 1, "an alias", "the value itself, written out")
            # The value all the same, so that this is the only complaint; not inside itself, which would have no end.
            meant = self.anchors.get(event.anchor)
            if meant is None or any(meant is node for node in self.open):
                meant = Leaf(None, event.start_mark.index, event.end_mark.index)
            self.put(meant)
        elif kind == "DocumentStartEvent" and self.root is not None:
            self.refuse(event, 3, "a second document", "one document in a file")

    def enter(self, node: Seq | Map, event: Any) -> None:
        self.add(node, event)
        self.open.append(node)
        self.keys.append(None)

    def add(self, node: Node, event: Any) -> None:
        """Put the node of an event into the tree."""
        if event.anchor is not None:
            self.refuse(event, len(event.anchor) + 1, "an anchor", "the value itself at each place")
            self.anchors[event.anchor] = node
        if event.tag is not None and event.tag != "!":
            self.refuse(event, 1, "a tag", "plain or quoted values")
        self.put(node)

    def put(self, node: Node) -> None:
        """Put a node into the innermost open container."""
        if not self.open:
            self.root = self.root or node
            return
        parent, key = self.open[-1], self.keys[-1]
        if isinstance(parent, Seq):
            parent.items.append(node)
        elif key is not None:
            self.keys[-1] = None
            parent.entries.setdefault(str(key.value), (key, node))
        elif isinstance(node, Leaf):
            self.keys[-1] = self.new_key(parent, node)
        else:
            place = self.source.place(node)
            self.found.append(self.source.diagnostic("SB004", place, "a key is a list or a mapping", "a word as the key"))
            self.keys[-1] = Leaf("", node.start, node.start)

    def new_key(self, parent: Map, key: Leaf) -> Leaf:
        text = key.value if isinstance(key.value, str) else self.source.text[key.start : key.end]
        if text in parent.entries:
            first, _ = self.source.position(parent.entries[text][0].start)
            message = f"the key '{text}' is given twice; first in line {first}"
            self.found.append(self.source.diagnostic("SB003", self.source.place(key), message, "each key once"))
        return key if text == key.value else key._replace(value=text)

    def refuse(self, event: Any, length: int, what: str, expected: str) -> None:
        place = self.source.at(event.start_mark.index, length)
        self.found.append(self.source.diagnostic("SB004", place, f"{what} is not part of the spec language", expected))


def resolve(text: str) -> Scalar:
    """Value of a plain scalar by the YAML 1.2 core schema; infinities and NaN are text."""
    if text in WORDS:
        return WORDS[text]
    if text[0] in "-+.0123456789":
        if INTEGER.fullmatch(text):
            return int(text, 16 if text.startswith("0x") else 10)
        if FLOAT.fullmatch(text):
            return float(text)
    return text
