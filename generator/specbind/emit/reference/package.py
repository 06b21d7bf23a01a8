"""The one file of the reference."""

from __future__ import annotations

from pathlib import Path

from specbind.emit.core import FileMap, environment, notice
from specbind.emit.reference.values import Page
from specbind.spec import model as m


def render(spec: m.Spec) -> FileMap:
    """The page."""
    template = environment(Path(__file__).parent / "templates").get_template("reference.md.jinja")
    return {"docs/reference.md": template.render(notice=notice(spec), **Page(spec).values())}
