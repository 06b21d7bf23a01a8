"""The tree of a spec file to the model of `specbind.spec.model`.

It takes what the structure check has let through. Types that nothing declares become references of kind `unknown`,
so that everything else about the item can still be checked; a spec that has one is never handed out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from specbind.spec import model as m
from specbind.spec.source import Leaf, Map, Node, Seq, Source

# section of the file -> kind of its items, where a name there is a type
TYPE_SECTIONS = {"enums": "enum", "structs": "struct", "handles": "handle", "foreign": "foreign", "callbacks": "callback"}
SECTIONS = {**TYPE_SECTIONS, "functions": "function", "groups": "group", "constants": "constant"}


class Built(NamedTuple):
    """The model of all items that are whole, every name that the file declares, and the mapping behind each item."""

    spec: m.Spec
    declared: dict[str, set[str]]  # kind -> names, those of broken items included
    nodes: dict[m.Span, Map]  # place of an item -> its mapping


def build(root: Map, source: Source, broken: set[int]) -> Built:
    """Make the model of a sound tree, without the items whose mapping's `id` is in `broken`."""
    return Builder(root, source, broken).built()


class Builder:
    def __init__(self, root: Map, source: Source, broken: set[int]) -> None:
        self.root = root
        self.source = source
        self.broken = broken
        self.nodes: dict[m.Span, Map] = {}
        self.declared = {kind: set(names(root.get(section))) for section, kind in SECTIONS.items()}
        self.kinds = {name: kind for kind in TYPE_SECTIONS.values() for name in self.declared[kind]}
        self.library = plain(root.entries["library"][1])
        self.since: str = self.library["since"]

    def built(self) -> Built:
        statuses = [e["name"] for e, _ in self.section("enums") if e.get("role") == "status"]
        self.status = m.Ref("enum", statuses[0]) if statuses else None
        library = self.library
        spec = m.Spec(
            name=library["name"],
            prefix=library["prefix"],
            version=library["version"],
            doc=doc(library),
            groups=tuple(self.group(*g) for g in self.section("groups")),
            constants=tuple(self.constant(*c) for c in self.section("constants")),
            foreign=tuple(m.ForeignType(f["name"], f["header"], doc(f), f.get("release"), s) for f, s in self.section("foreign")),
            handles=tuple(self.handle(*h) for h in self.section("handles")),
            enums=tuple(self.enum(*e) for e in self.section("enums")),
            callbacks=tuple(self.callback(*c) for c in self.section("callbacks")),
            structs=tuple(self.struct(*s) for s in self.section("structs")),
            functions=tuple(self.function(*f) for f in self.section("functions")),
            source=self.source.file,
            since=self.since,
            terms=words(library.get("terms")),
        )
        return Built(spec, self.declared, self.nodes)

    def section(self, name: str) -> Iterator[tuple[dict[str, Any], m.Span]]:
        """The whole items of a top-level list, as plain values with their place."""
        section = self.root.get(name)
        for node in section.items if isinstance(section, Seq) else ():
            if id(node) not in self.broken:
                yield plain(node), self.span(node)

    def span(self, node: Map) -> m.Span:
        span = m.Span(self.source.file, *self.source.position(node.start))
        self.nodes[span] = node
        return span

    def entries(self, item: m.Span, key: str) -> Iterator[tuple[dict[str, Any], m.Span]]:
        """The entries of a list inside an item, likewise."""
        for node in self.nodes[item].entries[key][1].items:
            yield plain(node), self.span(node)

    def type(self, name: str) -> m.Type:
        if name in m.SCALARS:
            return m.SCALARS[name]
        if name == "str":
            return m.Str()
        if name == "pointer":
            return m.Pointer()
        return m.Ref(self.kinds.get(name, "unknown"), name)

    def result(self, item: dict[str, Any], default: m.Type | None) -> m.Type | None:
        if "returns" not in item:
            return default
        return None if item["returns"] == "void" else self.type(item["returns"])

    def group(self, g: dict[str, Any], span: m.Span) -> m.Group:
        steps = (m.Step(step.get("call"), doc(step), place) for step, place in self.entries(span, "round")) if "round" in g else ()
        return m.Group(g["name"], g.get("title", ""), doc(g), span, tuple(steps))

    def constant(self, c: dict[str, Any], span: m.Span) -> m.Constant:
        kind = m.SCALARS.get(c["type"], m.SCALARS["i32"])  # a wrong type is found by its name
        return m.Constant(c["name"], kind, number(kind, c["value"]), doc(c), span, c.get("since", self.since))

    def handle(self, h: dict[str, Any], span: m.Span) -> m.Handle:
        return m.Handle(
            h["name"], h["c_name"], h["release"], h.get("threads", "one"), h.get("last_error"), doc(h), span,
            h.get("since", self.since),
        )  # fmt: skip

    def enum(self, e: dict[str, Any], span: m.Span) -> m.Enum:
        since = e.get("since", self.since)
        values = tuple(
            m.EnumValue(v["name"], v["value"], doc(v), v.get("since", since), *deprecation(v, s))
            for v, s in self.entries(span, "values")
        )
        prefix = e.get("prefix", e["name"] + "_")
        return m.Enum(e["name"], values, doc(e), since, prefix, e.get("flags", False), e.get("role"), span)

    def callback(self, c: dict[str, Any], span: m.Span) -> m.Callback:
        params = tuple(self.param(*p) for p in self.entries(span, "params"))
        since = c.get("since", self.since)
        return m.Callback(c["name"], params, self.result(c, None), doc(c), since, c["thread"], c["lifetime"], span)

    def struct(self, s: dict[str, Any], span: m.Span) -> m.Struct:
        since = s.get("since", self.since)
        fields = tuple(self.field(f, place, since) for f, place in self.entries(span, "fields"))
        return m.Struct(s["name"], fields, doc(s), since, s["growable"], s.get("init"), *deprecation(s, span))

    def field(self, f: dict[str, Any], span: m.Span, since: str) -> m.Field:
        kind = self.type(f["type"])
        return m.Field(
            f["name"], kind, doc(f), f.get("since", since), *values(kind, f), f.get("array"), f.get("nullable", False),
            f.get("role"), f.get("lifetime"), *deprecation(f, span),
        )  # fmt: skip

    def param(self, p: dict[str, Any], span: m.Span) -> m.Param:
        kind = self.type(p["type"])
        direction = p.get("direction", "in")
        return m.Param(
            p["name"], kind, passing(kind, direction, p), doc(p), direction, p.get("nullable", False), *values(kind, p),
            p.get("array"), p.get("count"), p.get("role"), p.get("all", False), p.get("ownership"), p.get("lifetime"),
            span, p.get("which"),
        )  # fmt: skip

    def function(self, f: dict[str, Any], span: m.Span) -> m.Function:
        params = tuple(self.param(*p) for p in self.entries(span, "params"))
        return m.Function(
            f["name"], f.get("group", ""), params, self.result(f, self.status), doc(f), f.get("since", self.since),
            tuple(f.get("results", ())), tuple(f.get("errors", ())), f.get("returns_lifetime"), f.get("threads", "one"),
            f.get("raw", False), *deprecation(f, span),
        )  # fmt: skip


def passing(kind: m.Type, direction: str, p: dict[str, Any]) -> m.Passing:
    """How a parameter of this type and direction crosses the boundary."""
    if "array" in p:
        return m.Passing.ARRAY_OUT if direction == "out" else m.Passing.ARRAY_IN
    if p.get("pointer"):
        return m.Passing.ADDRESS_OUT
    if isinstance(kind, m.Ref) and kind.kind == "struct":
        return {
            "in": m.Passing.STRUCT_IN,
            "out": m.Passing.STRUCT_OUT,
            "inout": m.Passing.STRUCT_INOUT,
            "init": m.Passing.STRUCT_INIT,
        }[direction]
    if direction == "out":
        return m.Passing.OBJECT_OUT if isinstance(kind, m.Ref) and kind.kind in ("handle", "foreign") else m.Passing.SCALAR_OUT
    return m.Passing.VALUE


def plain(node: Node) -> Any:
    """A node as Python values. The depth is that of the schema."""
    if isinstance(node, Map):
        return {key: plain(child) for key, (_, child) in node.entries.items()}
    return [plain(child) for child in node.items] if isinstance(node, Seq) else node.value


def words(values: object) -> tuple[str, ...]:
    """The texts of a list; what else stands there is a mistake that has been noted."""
    return tuple(v for v in values if isinstance(v, str)) if isinstance(values, list) else ()


def names(section: Node | None) -> Iterator[str]:
    """The names of a list's entries, as far as they have one."""
    for entry in section.items if isinstance(section, Seq) else ():
        name = entry.get("name") if isinstance(entry, Map) else None
        if isinstance(name, Leaf) and isinstance(name.value, str):
            yield name.value


def doc(item: dict[str, Any]) -> str:
    return str(item.get("doc", "")).strip()


def deprecation(item: dict[str, Any], span: m.Span) -> tuple[str | None, m.Span, str | None]:
    """The last three fields of an item: what to use instead, the item's place, and the version since when."""
    deprecated = item.get("deprecated")
    return (None, span, None) if deprecated is None else (deprecated["note"].strip(), span, deprecated["since"])


def values(kind: m.Type, item: dict[str, Any]) -> tuple[Any, Any, Any, str | None]:
    """Default, smallest and largest value, and unit."""
    default, low, high = (number(kind, item[key]) if key in item else None for key in ("default", "min", "max"))
    return default, low, high, item.get("unit")


def number(kind: m.Type, value: Any) -> Any:
    """A number as its type holds it: 0 of a float is 0.0, so that both spellings mean the same."""
    return float(value) if isinstance(kind, m.Scalar) and kind.floating and isinstance(value, int) else value
