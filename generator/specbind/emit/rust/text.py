"""Rust text as rustfmt would leave it.

The crates come with a rustfmt.toml that asks for its "Max" heuristics: a list stands on one line wherever that fits
into 100 columns, else each item has its own. That rule is simple enough to be followed here, so that generated code
needs no formatter and stays the same on a machine without one.
"""

from __future__ import annotations

from collections.abc import Iterable

from specbind.emit.c.text import paragraphs

WIDTH = 100


def doc(text: str, indent: int = 0, sign: str = "///") -> list[str]:
    """`text` as a documentation comment, without the indent."""
    return [f"{sign} {line}".rstrip() for line in paragraphs(text, WIDTH - indent - len(sign) - 1)]


def listing(head: str, items: Iterable[str], tail: str, indent: int) -> list[str]:
    """`head(a, b)tail` on one line if it fits behind `indent`, else one item per line. `head` ends in the open bracket."""
    parts = list(items)
    one = head + ", ".join(parts) + tail
    if indent + len(one) <= WIDTH or not parts:
        return [one]
    return [head, *(f"    {part}," for part in parts), tail]


def literal(head: str, items: Iterable[str], tail: str, indent: int) -> list[str]:
    """`head { a, b }tail` on one line if it fits behind `indent`, else one item per line."""
    parts = list(items)
    one = f"{head} {{ {', '.join(parts)} }}{tail}"
    if indent + len(one) <= WIDTH:
        return [one]
    return [f"{head} {{", *(f"    {part}" + ("" if part.startswith("..") else ",") for part in parts), "}" + tail]


def let(name: str, value: str, indent: int) -> list[str]:
    """`let name = value;`, broken behind the sign if it does not fit."""
    one = f"let {name} = {value};"
    return [one] if indent + len(one) <= WIDTH else [f"let {name} =", f"    {value};"]


def unsafe_call(binding: str, callee: str, args: Iterable[str], indent: int) -> list[str]:
    """`let status = unsafe { callee(args) };` in the four shapes that rustfmt gives it."""
    parts = list(args)
    block = f"unsafe {{ {callee}({', '.join(parts)}) }};"
    if indent + len(binding + block) <= WIDTH:
        return [binding + block]
    if binding and indent + 4 + len(block) <= WIDTH:
        return [binding.rstrip(), f"    {block}"]
    inner = listing(f"{callee}(", parts, ")", indent + 4)
    return [f"{binding}unsafe {{", *(f"    {line}" for line in inner), "};"]


def string(text: str) -> str:
    """A Rust string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'
