"""Swift names of everything in a spec. All other code of this back end asks here; nothing else makes up an identifier."""

from __future__ import annotations

from specbind.emit import calls
from specbind.emit.c.naming import CNaming
from specbind.spec import model as m

# Words that stand in backticks where they are identifiers.
KEYWORDS = frozenset(
    """Any Self as associatedtype await break case catch class continue default defer deinit do else enum extension
    fallthrough false fileprivate for func guard if import in init inout internal is let nil open operator precedencegroup
    private protocol public repeat rethrows return self static struct subscript super switch throw throws true try
    typealias var where while""".split()
)

# Words that not even backticks make a name of a type or member.
RESERVED = frozenset({"Type", "Protocol", "_"})

# Names that generated methods use themselves.
TAKEN = frozenset({"arena", "functions", "object", "out", "capacity", "count", "outcome", "handle", "library", "raw"})

# Words that Swift writes in capitals, but for the first of a name.
INITIALISMS = frozenset("abi eog gpu id kv mtp rs utf8".split())

# Parameters whose C names are abbreviations.
WORDS = {"ctx_tgt": "target", "ctx_dft": "draft", "model_tgt": "target_model", "model_dft": "draft_model", "smpl": "sampler"}


def camel(name: str) -> str:
    """`seq_id` -> `seqID`, `NEEDS_BEGIN` -> `needsBegin`."""
    first, *rest = (word.lower() for word in name.split("_") if word)
    return first + "".join(word.upper() if word in INITIALISMS else word.capitalize() for word in rest)


def pascal(name: str) -> str:
    """`seq_state` -> `SeqState`, `load_mtp` -> `LoadMTP`."""
    return "".join(w.upper() if w in INITIALISMS else w.capitalize() for w in name.lower().split("_"))


def escaped(name: str) -> str:
    return f"`{name}`" if name in KEYWORDS else f"{name}_" if name in RESERVED else name


class SwiftNaming:
    """Names of one spec: C's own from the imported header, Swift's in the module above it."""

    def __init__(self, spec: m.Spec) -> None:
        self.spec = spec
        self.c = CNaming(spec)

    @property
    def module(self) -> str:
        return pascal(self.c.library)

    @property
    def c_module(self) -> str:
        return f"C{self.module}"

    @property
    def environment(self) -> str:
        """Name of the environment variable that names the library."""
        return self.c.macro("LIB")

    def c_field(self, name: str) -> str:
        """A field of an imported struct."""
        return escaped(name)

    def type(self, name: str) -> str:
        """A struct, enum, object or foreign type."""
        return escaped(pascal(name))

    def owned(self, name: str) -> str:
        """A foreign type that its value ends."""
        return f"Owned{pascal(name)}"

    def remote(self, name: str) -> str:
        """What any thread may do with an object."""
        return f"{pascal(name)}Remote"

    def member(self, name: str) -> str:
        """A field or an enum value."""
        return escaped(camel(name))

    def function(self, name: str) -> str:
        """An entry of the table of raw functions."""
        return escaped(camel(name))

    def label(self, param: m.Param) -> str:
        """The label of a parameter, which is also its name inside."""
        name = camel(WORDS.get(param.name, param.name))
        return f"{name}_" if name in TAKEN | KEYWORDS else name

    def method(self, call: calls.Call) -> str:
        return "init" if call.constructs else escaped(camel(calls.short_name(self.spec, call.function, call.handle)))

    def error(self, value: m.EnumValue) -> str:
        """`ERROR_ROUND_OPEN` -> `roundOpen`."""
        return self.member(value.name.removeprefix("ERROR_"))

    def outcome(self, value: m.EnumValue) -> str:
        """A status that is no error; `done` says more than `ok` where a call answers with it."""
        return "done" if value.value == 0 else self.member(value.name)
