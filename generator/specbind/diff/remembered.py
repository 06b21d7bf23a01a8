"""Sides that were read before, kept in the user's cache: reading YAML is most of what a comparison costs."""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from specbind.cache import keep, key, recall
from specbind.spec.source import Source

READERS = (
    "spec/model.py",
    "spec/source.py",
    "spec/build.py",
    "spec/structure.py",
    "spec/schema.json",
    "cheader/document.py",
    "diff/sides.py",
    "diff/baseline.py",
    "diff/finding.py",
)

T = TypeVar("T")


def remembered(source: Source, label: str, make: Callable[[], T]) -> T:
    """What `make` made of this text before, or what it makes now."""
    name = digest(source, label)
    with contextlib.suppress(Exception):  # whatever is wrong with it, it can be made again
        known: T = pickle.loads(recall("sides", name) or b"")
        return known
    made = make()
    keep("sides", name, pickle.dumps(made))
    return made


def digest(source: Source, label: str) -> str:
    """Name of the entry: the text, what its places are called, and the state of the code that reads it."""
    package = Path(__file__).parents[1]
    stamps = [(stat.st_mtime_ns, stat.st_size) for stat in (os.stat(package / name) for name in READERS)]
    return key(sys.version, repr(stamps), source.file, label, source.text)
