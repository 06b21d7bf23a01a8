"""Text changes as `git am` takes them: mail with a unified diff, blob ids included, the same from run to run."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

CONTEXT = 3  # lines around a change
MARGIN = 50  # equal lines left at both ends for the comparison: it may move a change over equal lines, and needs context
ZERO = "0" * 40
NO_COMMIT = "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001"  # git's fixed date of the separator


@dataclass(frozen=True, slots=True)
class Patch:
    """A step of a series. `files`: path -> old text, None for a new file, and new text."""

    subject: str
    body: str
    files: Mapping[str, tuple[str | None, str]]


def mail(patch: Patch, number: int, total: int, author: str) -> str:
    """The whole patch file. It has no date: whoever applies it makes the commit."""
    stats = [(path, *counts(old, new)) for path, (old, new) in patch.files.items()]
    width = max(len(path) for path, _, _ in stats)
    stat = "".join(f" {path:{width}} | +{added} -{removed}\n" for path, added, removed in stats)
    diffs = "".join(diff(path, old, new) for path, (old, new) in patch.files.items())
    return (
        f"{NO_COMMIT}\nFrom: {author}\nSubject: [PATCH {number}/{total}] {patch.subject}\n\n"
        f"{patch.body.strip()}\n\nGenerated-by: specbind propose\n---\n{stat}\n{diffs}-- \nspecbind\n\n"
    )


def file_name(patch: Patch, number: int) -> str:
    """As git format-patch names it."""
    return f"{number:04}-{re.sub(r'[^A-Za-z0-9_.]+', '-', patch.subject).strip('-.')}.patch"


def diff(path: str, old: str | None, new: str) -> str:
    """`git diff` of one file."""
    head = f"diff --git a/{path} b/{path}\n"
    head += f"new file mode 100644\nindex {ZERO}..{blob(new)}\n" if old is None else f"index {blob(old)}..{blob(new)} 100644\n"
    head += f"--- {'/dev/null' if old is None else 'a/' + path}\n+++ b/{path}\n"
    return head + "".join(hunks(lines_of(old or ""), lines_of(new)))


def blob(text: str) -> str:
    """git's id of a file's content."""
    data = text.encode()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def lines_of(text: str) -> list[str]:
    """Lines as git counts them: only a line feed ends one."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def counts(old: str | None, new: str) -> tuple[int, int]:
    """Lines added and removed."""
    added = removed = 0
    for line in hunks(lines_of(old or ""), lines_of(new)):
        added += line[0] == "+"
        removed += line[0] == "-"
    return added, removed


def hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    for group in grouped(old, new):
        first, last = group[0], group[-1]
        yield f"@@ -{span(first[1], last[2])} +{span(first[3], last[4])} @@\n"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (marked(" ", line) for line in old[i1:i2])
                continue
            yield from (marked("-", line) for line in old[i1:i2])
            yield from (marked("+", line) for line in new[j1:j2])


def grouped(old: Sequence[str], new: Sequence[str]) -> list[list[tuple[str, int, int, int, int]]]:
    """Groups of changes with their context. The common ends are set aside first: comparing is quadratic in what is left."""
    limit = min(len(old), len(new))
    head = next((i for i in range(limit) if old[i] != new[i]), limit)
    tail = next((i for i in range(limit - head) if old[-1 - i] != new[-1 - i]), limit - head)
    head, tail = max(0, head - MARGIN), max(0, tail - MARGIN)
    matcher = difflib.SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    return [
        [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in group]
        for group in matcher.get_grouped_opcodes(CONTEXT)
    ]


def span(start: int, stop: int) -> str:
    length = stop - start
    return f"{start + (length > 0)}" if length == 1 else f"{start + (length > 0)},{length}"


def marked(sign: str, line: str) -> str:
    return sign + line if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
