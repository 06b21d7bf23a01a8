"""A spec file to the model: the one way in for everything that works on a spec."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from specbind.spec import model as m
from specbind.spec.diagnostics import Diagnostic, SpecError
from specbind.spec.source import Map, Source, open_source, read


def load(path: Path, backends: Iterable[object] = ()) -> m.Spec:
    """`check`, or SpecError with all mistakes."""
    spec, found = check(path, backends)
    if spec is None:
        raise SpecError(found)
    return spec


def check(path: Path, backends: Iterable[object] = ()) -> tuple[m.Spec | None, list[Diagnostic]]:
    """Read and check a spec file: the model, or None and all mistakes in the order of the file.

    `backends` are asked whether they can name and express everything, those that are `specbind.emit.core.Named`.
    """
    source, found = open_source(path)
    return (None, found) if found else check_source(source, backends)


def check_source(source: Source, backends: Iterable[object] = ()) -> tuple[m.Spec | None, list[Diagnostic]]:
    """`check` for text that is in memory."""
    from specbind.emit.core import Named
    from specbind.spec import rules, structure
    from specbind.spec.build import build
    from specbind.spec.rules.context import Context

    root, found = read(source)
    if root is None and found:
        return None, found
    shape = structure.check_structure(source, root)
    found += shape.found
    spec = None
    if shape.sound and isinstance(root, Map):
        asked = tuple(backend for backend in backends if isinstance(backend, Named))
        built = build(root, source, shape.broken)
        spec = built.spec
        found += rules.apply(Context(source, built, root, asked), whole=not shape.broken)
    found.sort(key=lambda d: d.order)
    return (None if found else spec), found
