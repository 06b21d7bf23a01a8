"""Promises about threads, of objects, functions and callbacks."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.diff.change import found
from specbind.diff.finding import Finding
from specbind.spec.model import Span


def promise(item: str, before: str, after: str, *, stronger: str, span: Span) -> Iterator[Finding]:
    """`stronger` is the word that leaves callers more freedom: `any` of a function, `caller` of a callback."""
    if before != after:
        rule = "threads-widened" if after == stronger else "threads-narrowed"
        yield found(rule, item, f"threads: {after}, it was {before}", old=before, new=after, span=span)
