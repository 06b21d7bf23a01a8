"""C# names of everything in a spec. All other code of this back end asks here; nothing else makes up an identifier."""

from __future__ import annotations

from specbind.emit import calls
from specbind.emit.c.naming import CNaming
from specbind.spec import model as m

# Words that stand behind an @ where they are identifiers.
KEYWORDS = frozenset(
    """abstract as base bool break byte case catch char checked class const continue decimal default delegate do double else
    enum event explicit extern false finally fixed float for foreach goto if implicit in int interface internal is lock long
    namespace new null object operator out override params private protected public readonly ref return sbyte sealed short
    sizeof stackalloc static string struct switch this throw true try typeof uint ulong unchecked unsafe ushort using virtual
    void volatile while""".split()
)

# Names that every class has already.
RESERVED = frozenset({"Equals", "GetHashCode", "GetType", "ToString", "MemberwiseClone", "Finalize", "ReferenceEquals", "_"})

# Names that generated methods use themselves.
TAKEN = frozenset({"call", "buffer", "count", "status", "result", "handle", "user"})

# Parameters whose C names are abbreviations, or a keyword.
WORDS = {
    "ctx_tgt": "target", "ctx_dft": "draft", "model_tgt": "target_model", "model_dft": "draft_model", "smpl": "sampler", "ctx": "context",
    "params": "parameters",
}  # fmt: skip


def pascal(name: str) -> str:
    """`seq_id` -> `SeqId`, `NEEDS_BEGIN` -> `NeedsBegin`."""
    return "".join(word.capitalize() for word in name.lower().split("_"))


def camel(name: str) -> str:
    """`seq_id` -> `seqId`."""
    text = pascal(name)
    return text[:1].lower() + text[1:]


class CSharpNaming:
    """Names of one spec: raw types that mirror C, and .NET's names above them."""

    def __init__(self, spec: m.Spec) -> None:
        self.spec = spec
        self.c = CNaming(spec)

    @property
    def namespace(self) -> str:
        return pascal(self.c.library)

    @property
    def environment(self) -> str:
        """Name of the environment variable that names the library."""
        return self.c.macro("LIB")

    def raw(self, name: str) -> str:
        """The blittable mirror of a struct."""
        return f"Raw{pascal(name)}"

    def raw_field(self, name: str) -> str:
        """A field of a mirror, under its C name."""
        return f"@{name}" if name in KEYWORDS else name

    def raw_callback(self, name: str) -> str:
        """The C signature of a callback as a delegate."""
        return f"Raw{pascal(name)}"

    def type(self, name: str) -> str:
        """A struct, enum, object or foreign type."""
        return pascal(name)

    def handle(self, name: str) -> str:
        """The safe handle of an object."""
        return f"{pascal(name)}Handle"

    def owned(self, name: str) -> str:
        """A foreign type that its value ends."""
        return f"Owned{pascal(name)}"

    def member(self, name: str) -> str:
        """A property, enum value or function."""
        text = pascal(name)
        return f"{text}_" if text in RESERVED else text

    def parameter(self, param: m.Param) -> str:
        name = camel(WORDS.get(param.name, param.name))
        return f"{name}_" if name in TAKEN else f"@{name}" if name in KEYWORDS else name

    def method(self, call: calls.Call) -> str:
        return self.member(calls.short_name(self.spec, call.function, call.handle))

    def exception(self, value: m.EnumValue | str) -> str:
        """`ERROR_ROUND_OPEN` -> `RoundOpenException`."""
        name = value if isinstance(value, str) else value.name
        return f"{pascal(name.removeprefix('ERROR_'))}Exception"

    def outcome(self, value: m.EnumValue) -> str:
        """A status that is no error; `Done` says more than `Ok` where a call answers with it."""
        return "Done" if value.value == 0 else self.member(value.name)
