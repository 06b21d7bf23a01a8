"""What has to be explained."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.spec import model as m
from specbind.spec.build import SECTIONS
from specbind.spec.rules.context import Context, Fault, called, kind_of
from specbind.spec.source import Leaf, Map, Node, Seq


def missing(ctx: Context) -> Iterator[Fault]:
    """Parameters and fields; the schema asks for all other documentation. Objects and `struct_size` explain themselves."""
    for owner, part in ctx.parts():
        if part.doc:
            continue
        if isinstance(part, m.Field) and part.is_struct_size:
            continue
        if isinstance(part, m.Param) and part.passing is m.Passing.VALUE and kind_of(part.type) == "handle":
            continue
        yield Fault(part, f"{called(part, owner)} has no documentation", expected="'doc' with a sentence")


# Keys whose texts become comments. All but the first two are single lines.
COMMENTS = ("doc", "note", "title", "unit", "header", "lifetime", "returns_lifetime")
BREAKERS = {"\\": "a backslash", "*/": "'*/'", "/*": "'/*'", '"""': "three quotes"}


def comment_breakers(ctx: Context) -> Iterator[Fault]:
    for key, leaf in texts(ctx.root):
        text = str(leaf.value)
        breaker = next((name for part, name in BREAKERS.items() if part in text), None)
        if breaker is not None:
            message = f"'{key}' has {breaker}, which would break a comment in generated code"
            yield Fault(None, message, expected="other words", place=ctx.source.place(leaf))
        elif key not in COMMENTS[:2] and len(text.splitlines()) > 1:
            yield Fault(None, f"'{key}' has several lines", expected="one line", place=ctx.source.place(leaf))


def texts(root: Map) -> Iterator[tuple[str, Leaf]]:
    """Every text that becomes a comment, with its key. What the schema does not know is not looked into."""
    pending: list[Node] = [root.entries["library"][1], *(node for name in SECTIONS if (node := root.get(name)) is not None)]
    while pending:
        node = pending.pop()
        if isinstance(node, Seq):
            pending += node.items
        elif isinstance(node, Map):
            for key, (_, child) in node.entries.items():
                if key in COMMENTS and isinstance(child, Leaf):
                    yield key, child
                elif key in ("params", "fields", "values", "round", "deprecated"):
                    pending.append(child)
