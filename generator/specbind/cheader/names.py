"""What the library's names begin with, and what is left of them in the model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

ENDINGS = ("free", "destroy", "close", "delete", "release", "unref")


def common_prefix(names: Iterable[str]) -> str:
    """The word that most of the functions begin with, underscore included; empty if there is none.

    One word, however many the names share: a function more must not change what the others are called.
    """
    words = Counter(name.split("_", 1)[0] + "_" for name in names if "_" in name.strip("_") and not name.startswith("_"))
    return words.most_common(1)[0][0] if words else ""


class Prefix:
    """Takes the library's prefix off names: `llama_` off functions and types, `LLAMA_` off constants."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.upper = prefix.upper()

    def begins(self, name: str) -> bool:
        """Whether a type, function or constant is the library's by its name."""
        return name.startswith((self.prefix, self.upper)) or name == self.prefix.rstrip("_")

    def strip(self, name: str) -> str:
        """The name in the model; one that is nothing but the prefix, or would begin with a digit, stays whole."""
        for prefix in (self.prefix, self.upper):
            rest = name.removeprefix(prefix)
            if rest != name and re.match(r"[A-Za-z_]", rest):
                return rest
        return name


def value_prefix(enum: str, values: Sequence[str]) -> str:
    """What the names of an enum's values begin with, in upper case: the enum's name where they do, else what they share."""
    own = enum.upper() + "_"
    if all(name.startswith(own) for name in values):
        return own
    first, last = min(values), max(values)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    shared = first[:same].rpartition("_")
    prefix = shared[0] + shared[1]
    return prefix if all(re.match(r"[A-Za-z_]", name.removeprefix(prefix)) for name in values) else ""


def releases(function: str) -> bool:
    """Whether a function ends an object, by its name."""
    return any(word in function.split("_") for word in ENDINGS)
