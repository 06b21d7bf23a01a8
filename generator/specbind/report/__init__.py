"""One result, shown in the form that a reader or a tool wants.

Each form is a module with a function `render`; only the one asked for is imported.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specbind.diff.finding import Comparison

# form -> module below this package
MODULES = {"text": "terminal", "json": "json_", "markdown": "markdown", "sarif": "sarif", "junit": "junit"}


def render(comparison: Comparison, form: str, *, color: bool = False) -> str:
    """The whole report with a newline at its end. `color` matters to `text` only. KeyError if there is no such form."""
    module = import_module(f"specbind.report.{MODULES[form]}")
    text: str = module.render(comparison, color=color) if form == "text" else module.render(comparison)
    return text
