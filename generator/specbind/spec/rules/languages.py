"""What a back end says of a spec: names that clash or are reserved in its language, and things that it cannot express."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.emit.core import Name, Named
from specbind.spec import model as m
from specbind.spec.features import used_features
from specbind.spec.rules.context import Fault

Names = tuple[Name, ...]


def clashes(spec: m.Spec, backend: Named, names: Names) -> Iterator[Fault]:
    """One fault for two items, even if their names meet in several scopes of a language."""
    first: dict[tuple[str, str], Name] = {}
    told: set[tuple[str, str]] = set()
    for name in names:
        known = first.setdefault((name.scope, name.identifier), name)
        if known is not name and (known.what, name.what) not in told:
            told.add((known.what, name.what))
            message = f"{name.what} and {known.what} are both called '{name.identifier}' in {backend.title} ({name.scope})"
            yield Fault(name.item, message, expected="another name for one of them")


def reserved(spec: m.Spec, backend: Named, names: Names) -> Iterator[Fault]:
    for name in names:
        if name.identifier in backend.reserved:
            message = f"{name.what} would be called '{name.identifier}' in {backend.title}, where that word is reserved"
            yield Fault(name.item, message, expected="another name")


def features(spec: m.Spec, backend: Named, names: Names) -> Iterator[Fault]:
    for use in used_features(spec) if backend.unsupported else ():
        if use.feature in backend.unsupported:
            message = f"{use.what} uses '{use.feature}', which {backend.title} cannot express"
            yield Fault(use.item, message, expected=backend.unsupported[use.feature])
