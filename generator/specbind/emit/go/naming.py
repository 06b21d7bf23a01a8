"""Go names of everything in a spec. All other code of this back end asks here; nothing else makes up an identifier."""

from __future__ import annotations

from specbind.emit import calls
from specbind.emit.c.naming import CNaming
from specbind.spec import model as m

RESERVED = frozenset(
    """break case chan const continue default defer else fallthrough for func go goto if import interface map package range
    return select struct switch type var""".split()
)

# Names that generated code uses itself, helpers and predeclared ones included: a parameter would hide them.
TAKEN = frozenset(
    """append collect context count data err error failure found invalid iter keep len library made make nil outcome pin pinned
    pointer raw runtime status string truth uintptr unsafe unsupported user""".split()
)

# Words that Go writes in capitals throughout.
INITIALISMS = frozenset("abi eog gpu id kv mtp ok rs url utf8".split())


class GoNaming:
    """Names of one spec: exported in both packages, since the raw one mirrors C with Go's spelling."""

    def __init__(self, spec: m.Spec) -> None:
        self.spec = spec
        self.c = CNaming(spec)

    @property
    def package(self) -> str:
        return self.c.library.replace("_", "")

    def environment(self, name: str) -> str:
        """Name of an environment variable of the bindings."""
        return self.c.macro(name)

    def exported(self, name: str) -> str:
        """A type, field or function: `seq_id` -> `SeqID`, `NEEDS_BEGIN` -> `NeedsBegin`."""
        words = [w.lower() for w in name.split("_") if w]
        return "".join(w.upper() if w in INITIALISMS else w[:1].upper() + w[1:] for w in words)

    def local(self, name: str) -> str:
        """A parameter: `seq_id` -> `seqID`."""
        words = name.split("_")
        text = words[0].lower() + (self.exported("_".join(words[1:])) if len(words) > 1 else "")
        return f"{text}Value" if text in RESERVED | TAKEN else text

    def c_field(self, name: str) -> str:
        """A field of a C struct as cgo shows it."""
        return f"_{name}" if name in RESERVED else name

    def enum_value(self, enum: m.Enum, value: m.EnumValue) -> str:
        """`SeqStateReady`; the status, whose values have no prefix in C, has its type's here."""
        return self.exported(enum.name) + self.exported(value.name)

    def constant(self, constant: m.Constant) -> str:
        return self.exported(constant.name)

    def sentinel(self, value: m.EnumValue) -> str:
        """The error that stands for a status: `ERROR_UNSUPPORTED` -> `ErrUnsupported`."""
        return "Err" + self.exported(value.name.removeprefix("ERROR_"))

    def method(self, call: calls.Call) -> str:
        """A method, or the function that makes an object: `NewSpec`, `OpenSession`."""
        short = calls.short_name(self.spec, call.function, call.handle)
        if call.constructs and call.handle is not None:
            return self.exported({"init": "new"}.get(short, short) + f"_{call.handle.name}")
        if any(o.param.passing is m.Passing.OBJECT_OUT for o in call.outputs) and short.endswith("_init"):
            return self.exported(f"new_{short.removesuffix('_init')}")
        return self.exported(short)
