"""What the comparisons of all kinds of items share: making a finding, and telling which items belong together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar

from specbind.diff.finding import Finding
from specbind.diff.rules import grades
from specbind.spec import model as m


class Pair(NamedTuple):
    """The two ABIs.

    `documented`: both have documentation, so that a difference in it is one. `declared`: both are C declarations, which
    tell constness but not the direction of data. `renames`: kind and old name of a type -> its new name.
    """

    old: m.Spec
    new: m.Spec
    documented: bool
    declared: bool
    renames: dict[tuple[str, str], str]


def found(
    rule: str, item: str, message: str, *, old: str = "", new: str = "", span: m.Span = m.NOWHERE, targets: tuple[str, ...] = ()
) -> Finding:
    """A finding with the verdict of its rule."""
    return Finding(rule, grades()[rule][0], item, message, old, new, span, targets)


class Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


class Matched(NamedTuple):
    """Items of one kind: those on both sides, those with another name now, those that went, those that came."""

    kept: list[tuple[Any, Any]]
    renamed: list[tuple[Any, Any]]
    removed: list[Any]
    added: list[Any]

    @property
    def both(self) -> list[tuple[Any, Any]]:
        return self.kept + self.renamed


def match(old: Iterable[T], new: Iterable[T], key: Callable[[Any], Hashable] | None = None) -> Matched:
    """Pair items by name, and what is left by `key`, where that fits one item on each side only.

    A key of None says that an item is too plain to be recognised under another name.
    """
    before, after = {item.name: item for item in old}, {item.name: item for item in new}
    kept = [(item, after[name]) for name, item in before.items() if name in after]
    removed = [item for name, item in before.items() if name not in after]
    added = [item for name, item in after.items() if name not in before]
    renamed = []
    if key is not None and removed and added:
        for item in list(removed):
            wanted = key(item)
            alike = [other for other in added if key(other) == wanted]
            if wanted is not None and len(alike) == 1 and sum(key(other) == wanted for other in removed) == 1:
                renamed.append((item, alike[0]))
                removed.remove(item)
                added.remove(alike[0])
    return Matched(kept, renamed, removed, added)


def whole_items(kind: str, matched: Matched, text: Callable[[Any], str], *, owner: str = "") -> Iterator[Finding]:
    """Findings for items that came, went or changed their name.

    `kind` begins the rules' ids, such as `enum-value`; `owner` is the path of the item that they are part of.
    """
    word = kind.replace("-", " ")
    path = f"{owner}." if owner else f"{word} "
    for before, after in matched.renamed:
        message = f"{word} '{before.name}' is called '{after.name}' now"
        yield found(f"{kind}-renamed", path + before.name, message, old=text(before), new=text(after), span=after.span)
    for item in matched.removed:
        yield found(f"{kind}-removed", path + item.name, f"{word} '{item.name}' is gone", old=text(item), span=item.span)
    for item in matched.added:
        yield found(f"{kind}-added", path + item.name, f"{word} '{item.name}' is new", new=text(item), span=item.span)
