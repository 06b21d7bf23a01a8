"""Two ABIs in, all findings out: pure, and the one place that knows the order of kinds."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from specbind.diff import callbacks, constants, enums, functions, objects, structs
from specbind.diff.change import Pair, found, match
from specbind.diff.finding import Finding
from specbind.spec import model as m


def compare(old: m.Spec, new: m.Spec, *, documented: bool = True, declared: bool = False) -> tuple[Finding, ...]:
    """All changes from `old` to `new`, the worst first.

    `documented`: both sides carry documentation. `declared`: both were read from C headers.
    """
    pair = Pair(old, new, documented, declared, renames(old, new))
    every = [
        *library(pair),
        *structs.structs(pair),
        *enums.enums(pair),
        *functions.functions(pair),
        *callbacks.callbacks(pair),
        *constants.constants(pair),
        *objects.handles(pair),
        *objects.foreign(pair),
    ]
    return tuple(sorted(every, key=lambda finding: -finding.verdict))


def renames(old: m.Spec, new: m.Spec) -> dict[tuple[str, str], str]:
    """Types with a new name, so that what uses them is not reported too."""

    def of(kind: str, before: Iterable[object], after: Iterable[object], key: object) -> Iterator[tuple[tuple[str, str], str]]:
        for one, other in match(before, after, key).renamed:  # type: ignore[type-var, arg-type]
            yield (kind, one.name), other.name

    def release(handle: m.Handle) -> Hashable:
        return handle.release

    return dict(
        [
            *of("struct", old.structs, new.structs, structs.recognised),
            *of("enum", old.enums, new.enums, enums.recognised),
            *of("handle", old.handles, new.handles, release),
        ]
    )


def library(pair: Pair) -> Iterator[Finding]:
    """The library as a whole."""
    old, new = pair.old, pair.new
    if old.name != new.name and not pair.declared:
        yield found("library-renamed", "library", f"called '{new.name}', it was '{old.name}'", old=old.name, new=new.name)
    if old.prefix != new.prefix:
        message = f"names begin with '{new.prefix}', they began with '{old.prefix}'"
        yield found("prefix-changed", "library", message, old=old.prefix, new=new.prefix)
    if pair.documented and old.doc != new.doc:
        yield found("documentation-changed", "library", "the documentation changed")
