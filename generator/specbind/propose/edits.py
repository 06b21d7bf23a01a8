"""Changes to a source tree as values: new files, and text put beside a line that the tree must have.

A line that a change holds on to is an anchor. A tree in which it is missing, or stands twice, is another llama.cpp than
the one that the series was written for, and nothing of it is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from specbind.propose.errors import ProposeError

# Text of a file of the tree by path; None where there is none.
Reader = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Create:
    """A file that the tree does not have."""

    path: str
    text: str

    def apply(self, old: str | None) -> str:
        if old is not None:
            raise ProposeError(f"{self.path}: the tree has this file already; was the series applied to it before?")
        return self.text


@dataclass(frozen=True, slots=True)
class Insert:
    """Text before or after an anchor: whole lines that stand in the file exactly once."""

    path: str
    anchor: str
    text: str
    after: bool = False

    def apply(self, old: str | None) -> str:
        start = find(self.path, old, self.anchor)
        assert old is not None
        place = start + len(self.anchor) if self.after else start
        return old[:place] + self.text + old[place:]


@dataclass(frozen=True, slots=True)
class Wrap:
    """Text before the line of one anchor and after the line of another."""

    path: str
    first: str
    last: str
    before: str
    behind: str

    def apply(self, old: str | None) -> str:
        begin = Insert(self.path, self.first, self.before)
        return Insert(self.path, self.last, self.behind, after=True).apply(begin.apply(old))


@dataclass(frozen=True, slots=True)
class Replace:
    """Other text in the place of an anchor."""

    path: str
    anchor: str
    text: str

    def apply(self, old: str | None) -> str:
        start = find(self.path, old, self.anchor)
        assert old is not None
        return old[:start] + self.text + old[start + len(self.anchor) :]


Edit = Create | Insert | Wrap | Replace


def find(path: str, text: str | None, anchor: str) -> int:
    """Where an anchor starts. It begins a line and stands once."""
    if text is None:
        raise ProposeError(f"{path}: the tree has no such file; it is not the llama.cpp that the series is made for.")
    places = [i for i in positions(text, anchor) if i == 0 or text[i - 1] == "\n"]
    if len(places) != 1:
        shown = anchor.strip().splitlines()[0]
        how = "is not there" if not places else f"stands there {len(places)} times"
        raise ProposeError(
            f"{path}: the line `{shown}` {how}, and the series has to put text beside it. "
            "Give the pinned llama.cpp (see abi/llama_cpp.yaml), or adapt generator/specbind/propose/steps.py to this tree."
        )
    return places[0]


def positions(text: str, part: str) -> Iterable[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def apply(edits: Iterable[Edit], read: Reader) -> dict[str, tuple[str | None, str]]:
    """Old and new text of every file that the edits touch, in the order in which they first do."""
    texts: dict[str, tuple[str | None, str]] = {}
    for edit in edits:
        old, now = texts.get(edit.path, (None, None))
        if edit.path not in texts:
            old = now = read(edit.path)
        texts[edit.path] = (old, edit.apply(now))
    return texts


def layered(read: Reader, changed: Mapping[str, str]) -> Reader:
    """The tree with some texts already changed."""
    return lambda path: changed[path] if path in changed else read(path)
