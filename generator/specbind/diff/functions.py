"""Functions: symbols, results, the set of errors; their parameters have a module of their own."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace

from specbind.diff import parameters
from specbind.diff.change import Pair, found, match, whole_items
from specbind.diff.finding import Finding, Verdict
from specbind.diff.lifecycle import aged, removed_early
from specbind.diff.threads import promise
from specbind.diff.types import part_text, same_type, type_name
from specbind.diff.values import said
from specbind.layout.signature import canonical
from specbind.spec import model as m


def recognised(function: m.Function) -> Hashable:
    """By what a function is known under another name: its whole signature, if that is not too plain."""
    parts = tuple((param.name, param.type.name, param.passing) for param in function.params)
    return (type_name(function.returns), parts, frozenset(function.errors)) if len(parts) > 1 else None


def functions(pair: Pair) -> Iterator[Finding]:
    """All findings about functions."""
    matched = match(pair.old.functions, pair.new.functions, recognised)
    yield from whole_items("function", matched, function_text)
    yield from removed_early(pair, "function ", matched.removed)
    old, new = hushed(pair.old), hushed(pair.new)
    for before, after in matched.both:
        findings = list(function(pair, before, after))
        yield from findings
        if not pair.declared:
            yield from restated(
                pair, f"function {before.name}", canonical(old, before), canonical(new, after), findings, after.span
            )


def hushed(spec: m.Spec) -> m.Spec:
    """A spec whose callbacks say nothing of themselves: what changed in one is its own finding."""
    return replace(spec, callbacks=tuple(replace(each, params=(), returns=None) for each in spec.callbacks), _index={})


def restated(pair: Pair, item: str, old: str, new: str, known: list[Finding], span: m.Span) -> Iterator[Finding]:
    """A hash of the signature that changed though nothing in `known` is a break. A renamed type is one already."""
    if old != new and not pair.renames and all(each.verdict < Verdict.SOURCE for each in known):
        message = "older bindings refuse the library, for the signature has another hash"
        yield found("signature-restated", item, message, old=old, new=new, span=span)


def function_text(function: m.Function | m.Callback) -> str:
    return f"{type_name(function.returns)} {function.name}({', '.join(map(part_text, function.params))})"


def function(pair: Pair, before: m.Function, after: m.Function) -> Iterator[Finding]:
    """Findings about a function that is on both sides."""
    item = f"function {before.name}"
    if not same_result(pair, before.returns, after.returns):
        message = f"returns {type_name(after.returns)}, it returned {type_name(before.returns)}"
        old, new = type_name(before.returns), type_name(after.returns)
        yield found("return-type-changed", item, message, old=old, new=new, span=after.span)
    else:
        lives = before.returns_lifetime, after.returns_lifetime
        yield from said(item, "lifetime-changed", *lives, "how long its result is valid", after.span)
    yield from parameters.parameters(pair, item, before, after)
    for kind, one, other in (("errors", before.errors, after.errors), ("results", before.results, after.results)):
        yield from statuses(item, kind, one, other, after.span)
    yield from promise(item, before.threads, after.threads, stronger="any", span=after.span)
    yield from aged(pair, item, before, after)


def same_result(pair: Pair, old: m.Type | None, new: m.Type | None) -> bool:
    return old is new if old is None or new is None else same_type(pair, old, new)


def statuses(item: str, kind: str, old: tuple[str, ...], new: tuple[str, ...], span: m.Span) -> Iterator[Finding]:
    """Changes of the set of statuses that a function can return."""
    for change, these in (("added", [n for n in new if n not in old]), ("removed", [n for n in old if n not in new])):
        if these:
            names = ", ".join(these)
            message = f"can return {names} now" if change == "added" else f"does not return {names} any more"
            yield found(f"{kind}-{change}", item, message, old=", ".join(old), new=", ".join(new), span=span)
