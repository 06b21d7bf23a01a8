"""Plain text for generated C: wrapped comments and aligned columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

WIDTH = 120


def paragraphs(doc: str, width: int) -> list[str]:
    """`doc` wrapped to `width`; empty lines between paragraphs and Markdown list items are kept."""
    lines: list[str] = []
    for block in doc.strip().split("\n\n"):
        if lines:
            lines.append("")
        items: list[list[str]] = []
        for line in block.splitlines():
            if not items or line.lstrip().startswith("- "):
                items.append([])
            items[-1].append(line.strip())
        for item in items:
            indent = "  " if item[0].startswith("- ") else ""
            lines += textwrap.wrap(" ".join(item), width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return lines


def comment(doc: str, indent: int = 0) -> list[str]:
    """`doc` as `//` lines without the indent, wrapped so that they fit behind it."""
    return [f"// {line}".rstrip() for line in paragraphs(doc, WIDTH - indent - 3)]


def columns(rows: Iterable[Sequence[str]], gap: str = " ") -> list[str]:
    """Rows of cells as lines with every column but the last padded to its widest cell."""
    table = [list(row) for row in rows]
    if not table:
        return []
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]) - 1)]
    return [
        gap.join([cell.ljust(width) for cell, width in zip(row, widths, strict=False)] + [row[-1]]).rstrip() for row in table
    ]
