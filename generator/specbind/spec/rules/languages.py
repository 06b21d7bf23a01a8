"""What the back ends say of a spec: names that clash or are reserved in a language, and things that it cannot express."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.emit.core import Name
from specbind.spec.features import used_features
from specbind.spec.rules.context import Context, Fault


def clashes(ctx: Context) -> Iterator[Fault]:
    """One fault for two items, even if their names meet in several scopes of a language."""
    for backend in ctx.backends:
        first: dict[tuple[str, str], Name] = {}
        told: set[tuple[str, str]] = set()
        for name in backend.names(ctx.spec):
            known = first.setdefault((name.scope, name.identifier), name)
            if known is not name and (known.what, name.what) not in told:
                told.add((known.what, name.what))
                message = f"{name.what} and {known.what} are both called '{name.identifier}' in {backend.title} ({name.scope})"
                yield Fault(name.item, message, expected="another name for one of them")


def reserved(ctx: Context) -> Iterator[Fault]:
    for backend in ctx.backends:
        for name in backend.names(ctx.spec):
            if name.identifier in backend.reserved:
                message = f"{name.what} would be called '{name.identifier}' in {backend.title}, where that word is reserved"
                yield Fault(name.item, message, expected="another name")


def features(ctx: Context) -> Iterator[Fault]:
    used = list(used_features(ctx.spec))
    for backend in ctx.backends:
        for use in used:
            if use.feature in backend.unsupported:
                message = f"{use.what} uses '{use.feature}', which {backend.title} cannot express"
                yield Fault(use.item, message, expected=backend.unsupported[use.feature])
