"""Rust names of everything in a spec. All other code of this back end asks here; nothing else makes up an identifier."""

from __future__ import annotations

from specbind.emit import calls
from specbind.emit.c.naming import CNaming
from specbind.spec import model as m

RESERVED = frozenset(
    """abstract as async await become box break const continue do dyn else enum extern false final fn for gen if impl in let
    loop macro match mod move mut override priv pub ref return static struct trait true try type typeof unsafe unsized use
    virtual where while yield""".split()
)

# Words that may not even be written as r#word.
NEVER = frozenset({"self", "Self", "super", "crate", "_"})

# What a constructor is called.
CONSTRUCTORS = {"init": "new"}


def pascal(name: str) -> str:
    """`seq_status` -> `SeqStatus`, `NEEDS_BEGIN` -> `NeedsBegin`."""
    return "".join(word[:1].upper() + word[1:].lower() for word in name.split("_"))


class RustNaming:
    """Names of one spec: C's own in the -sys crate, Rust's in the safe one."""

    def __init__(self, spec: m.Spec) -> None:
        self.spec = spec
        self.c = CNaming(spec)

    # crates and files

    @property
    def crate(self) -> str:
        return self.c.library.replace("_", "-")

    @property
    def sys_crate(self) -> str:
        return f"{self.crate}-sys"

    @property
    def module(self) -> str:
        """The safe crate in a `use`."""
        return self.c.library

    @property
    def sys_module(self) -> str:
        return f"{self.c.library}_sys"

    def environment(self, name: str) -> str:
        """Name of an environment variable of the bindings."""
        return self.c.macro(name)

    # identifiers

    def identifier(self, name: str) -> str:
        """A field, parameter or method by its name in the spec."""
        if name in NEVER:
            return f"{name}_"
        return f"r#{name}" if name in RESERVED else name

    def type(self, name: str) -> str:
        """A struct, enum, handle, callback or foreign type of the safe crate."""
        return pascal(name)

    def variant(self, value: m.EnumValue) -> str:
        """A value of an enum of the safe crate."""
        name = pascal(value.name)
        return f"{name}_" if name == "Self" else name

    def method(self, call: calls.Call) -> str:
        name = calls.short_name(self.spec, call.function, call.handle)
        return self.identifier(CONSTRUCTORS.get(name, name) if call.constructs else name)
