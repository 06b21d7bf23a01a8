"""Swift text as swift-format leaves it: lines broken where they are too long, one item a line then."""

from __future__ import annotations

import re
from collections.abc import Iterable

from specbind.emit.c.text import paragraphs
from specbind.spec import model as m

WIDTH = 120


def doc(text: str, indent: int = 0) -> list[str]:
    """`text` as a documentation comment, without the indent."""
    return [f"/// {line}".rstrip() for line in paragraphs(prose(text), WIDTH - indent - 4)]


def prose(text: str) -> str:
    """Documentation of the spec for readers of Swift. Double backticks are links to symbols there, and symbols have capitals."""
    text = re.sub(r"\bNULL\b", "`nil`", text)
    return re.sub(r"``([^`]+)``", lambda code: code[0] if any(map(str.isupper, code[1])) else f"`{code[1]}`", text)


def listing(head: str, items: Iterable[str], tail: str, indent: int) -> list[str]:
    """`head(a, b)tail` on one line if it fits behind `indent`, else one item per line. `head` ends in the open bracket."""
    parts = list(items)
    one = head + ", ".join(parts) + tail
    if indent + len(one) <= WIDTH or not parts:
        return [one]
    return [head, *(f"    {part}," for part in parts[:-1]), f"    {parts[-1]}", tail]


def string(text: str) -> str:
    """A Swift string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def number(value: m.Number) -> str:
    """A number with its digits in groups, as the formatter wants long ones."""
    if isinstance(value, float):
        return repr(value)
    digits = f"{abs(value):_}" if abs(value) >= 10**7 else str(abs(value))
    return f"-{digits}" if value < 0 else digits
