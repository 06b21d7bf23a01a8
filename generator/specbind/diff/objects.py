"""Opaque objects: ours (handles) and those of other libraries (foreign types), and which functions release them."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.diff.change import Pair, found, match, whole_items
from specbind.diff.finding import Finding
from specbind.diff.lifecycle import aged
from specbind.diff.threads import promise
from specbind.diff.values import said
from specbind.spec import model as m


def handles(pair: Pair) -> Iterator[Finding]:
    """All findings about handles. One is known under another name by the function that releases it."""
    matched = match(pair.old.handles, pair.new.handles, lambda handle: handle.release)
    yield from whole_items("handle", matched, lambda handle: handle.name)
    for before, after in matched.both:
        item = f"handle {before.name}"
        if before.name == after.name and before.c_name != after.c_name:
            message = f"the C type is '{after.c_name}', it was '{before.c_name}'"
            yield found("handle-renamed", item, message, old=before.c_name, new=after.c_name, span=after.span)
        if before.last_error != after.last_error:
            message = f"errors are told by '{after.last_error}', they were by '{before.last_error}'"
            old, new = before.last_error or "", after.last_error or ""
            yield found("handle-error-function-changed", item, message, old=old, new=new, span=after.span)
        yield from released(item, before, after)
        yield from promise(item, before.threads, after.threads, stronger="any", span=after.span)
        yield from aged(pair, item, before, after)


def foreign(pair: Pair) -> Iterator[Finding]:
    """All findings about types of other libraries."""
    matched = match(pair.old.foreign, pair.new.foreign)
    yield from whole_items("foreign", matched, lambda kind: f"{kind.name} of {kind.header}")
    for before, after in matched.kept:
        item = f"foreign {before.name}"
        if before.header != after.header:
            message = f"declared in {after.header}, it was in {before.header}"
            yield found("foreign-header-changed", item, message, old=before.header, new=after.header, span=after.span)
        yield from released(item, before, after)
        yield from aged(pair, item, before, after)


def released(item: str, before: m.Handle | m.ForeignType, after: m.Handle | m.ForeignType) -> Iterator[Finding]:
    yield from said(item, "release-function-changed", before.release, after.release, "released by", after.span)
