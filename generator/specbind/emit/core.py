"""What every back end shares: the ordered file map, discovery, and the template environment.

A back end is a package below `specbind.emit` with a module-level `backend`. It gets the model and returns text by
path; it never reads YAML, never computes layout and never touches the disk.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Any, Protocol

from specbind.spec.model import Spec

# Path below the output root, with forward slashes -> file text. Insertion order is the order of writing.
FileMap = dict[str, str]


class Backend(Protocol):
    """One target of the generator."""

    name: str  # as in `--lang`
    title: str  # as in messages and in the report

    def render(self, spec: Spec) -> FileMap:
        """All files of this target for `spec`."""


def backends() -> dict[str, Backend]:
    """Every back end by name, found by looking into the package, so that a new language is a new folder and no edit."""
    import specbind.emit as package

    found = {}
    for module in pkgutil.iter_modules(package.__path__):
        if module.ispkg:
            backend: Backend = importlib.import_module(f"specbind.emit.{module.name}").backend
            found[backend.name] = backend
    return dict(sorted(found.items()))


def environment(folder: Path, **filters: Any) -> Any:
    """Jinja environment of a back end's `templates` folder; an undefined name in a template is an error."""
    import jinja2

    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    env.filters.update(filters)
    return env
