"""C# text: XML documentation comments, and lists broken where they are too long."""

from __future__ import annotations

import re
from collections.abc import Iterable

from specbind.emit.c.text import paragraphs

WIDTH = 120
XML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def prose(text: str) -> str:
    """Documentation of the spec for readers of C#, as XML: code in <c>, and null for NULL."""
    text = re.sub(r"\bNULL\b", "`null`", text).translate(XML)
    return re.sub(r"\*\*([^*]+)\*\*", r"\1", re.sub(r"(`{1,2})([^`]+)\1", r"<c>\2</c>", text))


def element(tag: str, text: str, indent: int = 0, attributes: str = "") -> list[str]:
    """`text` as one element of a documentation comment, without the indent."""
    opening, closing = f"<{tag}{attributes}>", f"</{tag}>"
    one = f"/// {opening}{prose(text)}{closing}"
    if len(one) + indent <= WIDTH and "\n" not in text.strip():
        return [one]
    blocks = [" ".join(block.split()) for block in text.strip().split("\n\n")]
    lines = [f"/// {opening}"]
    for block in blocks:
        body = paragraphs(prose(block), WIDTH - indent - 4)
        lines += [f"/// {line}" for line in (body if len(blocks) == 1 else ["<para>", *body, "</para>"])]
    return [*lines, f"/// {closing}"]


def summary(text: str, indent: int = 0) -> list[str]:
    return element("summary", text, indent)


def listing(head: str, items: Iterable[str], tail: str, indent: int) -> list[str]:
    """`head(a, b)tail` on one line if it fits behind `indent`, else one item per line. `head` ends in the open bracket."""
    parts = list(items)
    one = head + ", ".join(parts) + tail
    if indent + len(one) <= WIDTH or not parts:
        return [one]
    return [head, *(f"    {part}," for part in parts[:-1]), f"    {parts[-1]}{tail}"]


def string(text: str) -> str:
    """A C# string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'
