"""What is wrong in a spec file, and how it is shown: the way a compiler does, or as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from specbind.spec.model import Span


class Place(NamedTuple):
    """Where a caret goes; line and column count from 1, `length` is in characters."""

    line: int
    column: int
    length: int


class Diagnostic(NamedTuple):
    """One mistake. `expected` and `suggestion` are empty where there is nothing to add to `message`."""

    code: str
    span: Span
    length: int
    message: str
    expected: str = ""
    suggestion: str = ""
    source: str = ""  # text of the line

    @property
    def order(self) -> tuple[int, int, str, str]:
        return self.span.line, self.span.column, self.code, self.message


class SpecError(Exception):
    """A spec file has mistakes; all of them are in `diagnostics`, and the text of the exception shows them."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__(diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return render(self.diagnostics)


def render(diagnostics: Iterable[Diagnostic], *, color: bool = False) -> str:
    """Diagnostics for people: place, message, the line with a caret, what was expected; then a count."""
    found = list(diagnostics)
    parts = [render_one(d, color=color) for d in found]
    if found:
        count = "1 mistake" if len(found) == 1 else f"{len(found)} mistakes"
        parts.append(f"{count} in {found[0].span.file}. `specbind explain {found[0].code}` says more about the first.")
    return "\n\n".join(parts)


def render_one(diagnostic: Diagnostic, *, color: bool = False) -> str:
    """One diagnostic, without a newline at the end."""
    red, blue, bold, plain = ("\x1b[1;31m", "\x1b[1;34m", "\x1b[1m", "\x1b[0m") if color else ("", "", "", "")
    d = diagnostic
    lines = [f"{bold}{d.span.file}:{d.span.line}:{d.span.column}:{plain} {red}error[{d.code}]:{plain} {bold}{d.message}{plain}"]
    margin = " " * len(str(d.span.line))
    if d.source:
        # Tabs stay tabs below the line, so that the caret stands right whatever their width.
        indent = "".join("\t" if c == "\t" else " " for c in d.source[: d.span.column - 1])
        lines += [
            f"{blue}{d.span.line} |{plain} {d.source}",
            f"{blue}{margin} |{plain} {indent}{red}{'^' * max(1, d.length)}{plain}",
        ]
    if d.expected:
        lines.append(f"{blue}{margin} ={plain} expected: {d.expected}")
    if d.suggestion:
        lines.append(f"{blue}{margin} ={plain} did you mean '{d.suggestion}'?")
    return "\n".join(lines)


def as_json(diagnostics: Iterable[Diagnostic]) -> list[dict[str, object]]:
    """Diagnostics for machines; `docs/spec.md` names the keys."""
    from specbind.spec.codes import title

    return [
        {
            "code": d.code,
            "title": title(d.code),
            "file": d.span.file,
            "line": d.span.line,
            "column": d.span.column,
            "length": d.length,
            "message": d.message,
            "expected": d.expected or None,
            "suggestion": d.suggestion or None,
            "source": d.source,
        }
        for d in diagnostics
    ]


def near(name: str, candidates: Iterable[str]) -> str:
    """The candidate that `name` was most likely meant to be, empty if none is close."""
    import difflib

    by_lower = {candidate.lower(): candidate for candidate in candidates}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else ""
