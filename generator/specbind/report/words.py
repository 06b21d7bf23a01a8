"""Words that all reports for people share."""

from __future__ import annotations

from specbind.diff.finding import Comparison, Side, Verdict
from specbind.spec.model import Span


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def summary(comparison: Comparison) -> str:
    """How many changes of each verdict, the worst first."""
    standing = [f.verdict for f in comparison.findings if f.waiver is None]
    parts = [
        f"{standing.count(verdict)} without effect" if verdict is Verdict.NONE else f"{standing.count(verdict)} {verdict.label}"
        for verdict in sorted(Verdict, reverse=True)
        if verdict in standing
    ]
    if waived := len(comparison.findings) - len(standing):
        parts.append(f"{waived} waived")
    return f"{count(len(comparison.findings), 'change')} ({', '.join(parts)})" if parts else "no change"


def side(given: Side) -> str:
    """A side with its version, where it has one."""
    return f"{given.label} ({given.version})" if given.version and given.version not in given.label else given.label


def place(span: Span) -> str:
    """`file:line:column`, or nothing where there is none."""
    if not span.file:
        return ""
    return f"{span.file}:{span.line}:{span.column}" if span.line else span.file


def printable(text: str) -> str:
    """On one line and without control characters, which a terminal would obey; they are shown as Python writes them."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
