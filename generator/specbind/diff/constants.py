"""Public constants: their values are compiled into callers."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.diff.change import Pair, found, match, whole_items
from specbind.diff.finding import Finding
from specbind.diff.lifecycle import aged
from specbind.spec import model as m

# A header states the version of its ABI, which may change.
VERSION = frozenset({"VERSION", "VERSION_MAJOR", "VERSION_MINOR", "VERSION_PATCH"})


def constants(pair: Pair) -> Iterator[Finding]:
    """All findings about constants."""
    old, new = ([c for c in spec.constants if c.name not in VERSION] for spec in (pair.old, pair.new))
    matched = match(old, new, lambda c: (c.type.name, c.value))
    yield from whole_items("constant", matched, constant_text)
    for before, after in matched.both:
        item = f"constant {before.name}"
        if before.value != after.value:
            message = f"{after.value!r}, it was {before.value!r}"
            yield found("constant-changed", item, message, old=repr(before.value), new=repr(after.value), span=after.span)
        if before.type != after.type:
            message = f"of type {after.type.name}, it was {before.type.name}"
            yield found("constant-type-changed", item, message, old=before.type.name, new=after.type.name, span=after.span)
        yield from aged(pair, item, before, after)


def constant_text(constant: m.Constant) -> str:
    return f"{constant.name} = {constant.value!r} ({constant.type.name})"
