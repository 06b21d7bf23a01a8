"""How items age: deprecation, removal before its time, documentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from specbind.diff.change import Pair, found
from specbind.diff.finding import Finding
from specbind.spec import model as m
from specbind.spec.version import series


def aged(pair: Pair, item: str, before: Any, after: Any) -> Iterator[Finding]:
    """Deprecation and documentation of an item that is on both sides."""
    old, new = getattr(before, "deprecated", None), getattr(after, "deprecated", None)
    if old is None and new is not None:
        message = f"deprecated since {after.deprecated_since}: {new}"
        yield found("deprecated", item, message, new=new, span=after.span)
    elif old is not None and new is None:
        yield found("undeprecated", item, "no longer deprecated", old=old, span=after.span)
    if pair.documented and (before.doc != after.doc or (old and new and old != new)):
        yield found("documentation-changed", item, "the documentation changed", span=after.span)


def removed_early(pair: Pair, path: str, removed: Iterable[Any]) -> Iterator[Finding]:
    """Items that went without having been deprecated in an earlier series of versions.

    `path` begins the path of each. What cannot be deprecated has no time that it could be removed before.
    """
    if pair.declared:
        return  # a header says nothing of versions
    for item in removed:
        if not isinstance(item, m.EnumValue | m.Struct | m.Field | m.Function) or gone_by_right(pair, item):
            continue
        since = item.deprecated_since
        when = (
            "it was never deprecated"
            if since is None
            else f"it was deprecated in {since}, of the same series as {pair.new.version}"
        )
        message = f"'{item.name}' is gone, and {when}"
        yield found("removed-early", path + item.name, message, old=item.name, span=item.span)


def gone_by_right(pair: Pair, item: m.EnumValue | m.Struct | m.Field | m.Function) -> bool:
    return item.deprecated_since is not None and series(item.deprecated_since) != series(pair.new.version)
