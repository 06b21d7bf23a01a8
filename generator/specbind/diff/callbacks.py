"""Callbacks: functions of the caller that the library calls, so that data flows the other way and no symbol shows it."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.diff import parameters
from specbind.diff.change import Pair, found, match, whole_items
from specbind.diff.finding import Finding
from specbind.diff.functions import function_text, restated, same_result
from specbind.diff.lifecycle import aged
from specbind.diff.threads import promise
from specbind.diff.types import type_name
from specbind.layout.signature import canonical
from specbind.spec import model as m

# Changes of parameters after which the library and old code disagree about registers: one rule says so for callbacks.
SIGNATURE = frozenset({
    "parameter-added", "parameter-removed", "parameter-width-changed", "parameter-type-changed", "parameters-reordered",
})  # fmt: skip


def callbacks(pair: Pair) -> Iterator[Finding]:
    """All findings about callback types."""
    matched = match(pair.old.callbacks, pair.new.callbacks)
    yield from whole_items("callback", matched, function_text)
    for before, after in matched.kept:
        findings = list(callback(pair, before, after))
        yield from findings
        if not pair.declared:
            old, new = canonical(pair.old, before), canonical(pair.new, after)
            yield from restated(pair, f"callback {before.name}", old, new, findings, after.span)


def callback(pair: Pair, before: m.Callback, after: m.Callback) -> Iterator[Finding]:
    item = f"callback {before.name}"
    signature = []
    if not same_result(pair, before.returns, after.returns):
        signature.append(f"returns {type_name(after.returns)}, it returned {type_name(before.returns)}")
    for each in parameters.parameters(pair, item, before, after):
        if each.rule in SIGNATURE:
            signature.append(each.message)
        elif each.rule == "parameter-renamed":  # the code that is called has names of its own
            yield found("documentation-changed", each.item, each.message, old=each.old, new=each.new, span=each.span)
        else:
            yield each
    if signature:
        old, new = function_text(before), function_text(after)
        yield found("callback-signature-changed", item, "; ".join(signature), old=old, new=new, span=after.span)
    yield from promise(item, before.thread, after.thread, stronger="caller", span=after.span)
    if before.lifetime != after.lifetime:
        message = "must stay callable for another time; whether it is longer cannot be told"
        yield found("lifetime-changed", item, message, old=before.lifetime, new=after.lifetime, span=after.span)
    yield from aged(pair, item, before, after)
