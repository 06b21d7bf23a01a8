"""A C header to the same model that a spec becomes, so that layout and comparison work for any C library.

C tells less than a spec: names, types and constness, but not who owns what, which lengths belong to which arrays, or
what may be NULL. What it does not tell is left at the model's defaults. Types that the spec language lacks are `CType`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from specbind.cheader.errors import HeaderError as HeaderError
from specbind.spec.model import Spec

# In a file that `specbind import` wrote, and in no spec.
IMPORTED = re.compile(r"""^(?:\{\s*)?"?imported"?:""", re.MULTILINE)


class LeftOut(NamedTuple):
    """Something in a header that the model cannot hold, and why."""

    item: str
    reason: str


class Imported(NamedTuple):
    """What a header declares, and what of it is missing in `spec`."""

    spec: Spec
    left_out: tuple[LeftOut, ...]


def import_header(path: Path, *, include: Sequence[Path] = (), prefix: str | None = None) -> Spec:
    """The ABI that a C header declares; `read_header` also says what is left out."""
    return read_header(path, include=include, prefix=prefix).spec


def read_header(path: Path, *, include: Sequence[Path] = (), prefix: str | None = None) -> Imported:
    """Read a C header with libclang.

    `include`: more folders for `#include`. `prefix`: what the library's names begin with and the model's names leave
    out; None takes the word that most functions begin with. Names without it are kept as they are. Raises HeaderError.
    """
    from specbind.cheader.reader import Reader
    from specbind.cheader.unit import parse

    return Reader(parse(path, include), prefix).imported()


def open_abi(path: Path, include: Sequence[Path] = ()) -> Spec:
    """A spec, a C header, or what was imported of one, by what the file is. Raises SpecError or HeaderError."""
    if path.suffix in (".h", ".hh", ".hpp"):
        return import_header(path, include=include)
    if path.is_file() and IMPORTED.search(text := path.read_text(encoding="utf-8", errors="replace")):
        from specbind.cheader.document import load_text

        return load_text(text, str(path))
    from specbind.spec.load import load

    return load(path)
