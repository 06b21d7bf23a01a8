"""What a rule gets and what it gives: the model with the places behind it, and faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from specbind.emit.core import Named
from specbind.spec import model as m
from specbind.spec.build import Built, plain
from specbind.spec.diagnostics import Diagnostic, Place
from specbind.spec.source import Leaf, Map, Node, Seq, Source

Signature = m.Function | m.Callback
Owner = m.Function | m.Callback | m.Struct
Part = m.Param | m.Field


class Item(Protocol):
    """Anything of the model that has a place."""

    @property
    def span(self) -> m.Span: ...


class Fault(NamedTuple):
    """A mistake at `item`: at the value of `key`, or at the entry `entry` of that list, or without either at the item's name.

    `place` overrides all of them; only with it `item` may be None.
    """

    item: Item | None
    message: str
    key: str | None = None
    entry: str | None = None
    expected: str = ""
    suggestion: str = ""
    place: Place | None = None


class Context(NamedTuple):
    """A spec while it is checked, and the back ends that are asked about it.

    Items that are broken are missing from the model, but their names are in `built.declared`.
    """

    source: Source
    built: Built
    root: Map
    backends: tuple[Named, ...] = ()

    @property
    def spec(self) -> m.Spec:
        return self.built.spec

    def declares(self, kind: str, name: str) -> bool:
        return name in self.built.declared[kind]

    def function(self, name: str | None) -> m.Function | None:
        try:
            return None if name is None else self.spec.function(name)
        except KeyError:
            return None

    def struct(self, kind: m.Type) -> m.Struct | None:
        """The struct that a type refers to, if it is one and whole."""
        if not isinstance(kind, m.Ref) or kind.kind != "struct":
            return None
        try:
            return self.spec.struct(kind.name)
        except KeyError:
            return None

    @property
    def status(self) -> m.Enum | None:
        return next((e for e in self.spec.enums if e.role == "status"), None)

    def returns_status(self, function: m.Function) -> bool:
        return self.status is not None and function.returns == m.Ref("enum", self.status.name)

    def node(self, item: Item) -> Map:
        return self.built.nodes[item.span]

    def written(self, item: Item, key: str) -> Any:
        """The value of a key as it stands in the file, None if it does not."""
        node = self.node(item).get(key)
        return None if node is None else plain(node)

    @property
    def signatures(self) -> tuple[Signature, ...]:
        """Everything that has parameters and a result."""
        return (*self.spec.functions, *self.spec.callbacks)

    def params(self) -> Iterator[tuple[Signature, m.Param]]:
        """Every parameter with its owner."""
        for owner in self.signatures:
            yield from ((owner, param) for param in owner.params)

    def fields(self) -> Iterator[tuple[m.Struct, m.Field]]:
        for struct in self.spec.structs:
            yield from ((struct, field) for field in struct.fields)

    def parts(self) -> Iterator[tuple[Owner, Part]]:
        """Every parameter and every field with its owner."""
        yield from self.params()
        yield from self.fields()

    def locate(self, fault: Fault) -> Place:
        """Where the caret of a fault goes."""
        if fault.place is not None:
            return fault.place
        assert fault.item is not None, fault
        item = self.node(fault.item)
        node: Node | None = item.get(fault.key or "name")
        if fault.entry is not None and isinstance(node, Seq):
            node = next((n for n in reversed(node.items) if isinstance(n, Leaf) and n.value == fault.entry), node)
        return self.source.place(node or item.get("name") or item)

    def diagnostic(self, code: str, fault: Fault) -> Diagnostic:
        return self.source.diagnostic(code, self.locate(fault), fault.message, fault.expected, fault.suggestion)


def kind_of(kind: m.Type) -> str:
    """`scalar`, `str`, `pointer`, or the kind of a reference."""
    if isinstance(kind, m.Ref):
        return kind.kind
    return "scalar" if isinstance(kind, m.Scalar) else kind.name


def called(part: Part, owner: Owner) -> str:
    """`parameter 'n' of 'f'`."""
    return f"{'field' if isinstance(part, m.Field) else 'parameter'} '{part.name}' of '{owner.name}'"


def listing(words: Iterator[str] | tuple[str, ...] | list[str]) -> str:
    """`a, b, c`, or `none` for an empty list."""
    return ", ".join(words) or "none"
