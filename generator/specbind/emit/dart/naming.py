"""Dart names of everything in a spec. All other code of this back end asks here; nothing else makes up an identifier."""

from __future__ import annotations

from specbind.emit.c.naming import CNaming
from specbind.spec import model as m

# Reserved words and built-in identifiers: they get an underscore behind them.
KEYWORDS = frozenset(
    """abstract as assert async await base break case catch class const continue covariant default deferred do dynamic else
    enum export extends extension external factory false final finally for Function get hide if implements import in
    interface is late library mixin new null of on operator part required rethrow return sealed set show static super switch
    sync this throw true try type typedef var void when while with yield""".split()
)

# What no identifier may be: every object has these members.
RESERVED = frozenset({"hashCode", "runtimeType", "toString", "noSuchMethod", "_"})


def pascal(name: str) -> str:
    """`seq_status` -> `SeqStatus`, `NEEDS_BEGIN` -> `NeedsBegin`."""
    return "".join(word.capitalize() for word in name.lower().split("_"))


def camel(name: str) -> str:
    """`seq_id` -> `seqId`."""
    text = pascal(name)
    text = text[:1].lower() + text[1:]
    return f"{text}_" if text in KEYWORDS | RESERVED else text


class DartNaming:
    """Names of one spec in the raw library, which mirrors C with Dart's spelling."""

    def __init__(self, spec: m.Spec) -> None:
        self.spec = spec
        self.c = CNaming(spec)

    @property
    def package(self) -> str:
        return self.c.library

    @property
    def environment(self) -> str:
        """Name of the environment variable that names the library."""
        return self.c.macro("LIB")

    def opaque(self, c_name: str) -> str:
        """An opaque object by its C name: `llama_context` -> `LlamaContext`."""
        return pascal(c_name)

    def type(self, name: str) -> str:
        """A struct, or the class that holds the values of an enum."""
        return pascal(name)

    def callback(self, name: str) -> str:
        """The C signature of a callback."""
        return f"Native{pascal(name)}"

    def member(self, name: str) -> str:
        """A field, parameter, constant or function."""
        return camel(name)

    def owner(self, handle: m.Handle) -> str:
        """The class that owns an object."""
        return f"Owned{pascal(handle.name)}"

    def exception(self, value: m.EnumValue) -> str:
        """`ERROR_ROUND_OPEN` -> `RoundOpenException`."""
        return f"{pascal(value.name.removeprefix('ERROR_'))}Exception"
