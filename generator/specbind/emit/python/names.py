"""Every name that the Python back end makes, so that `specbind lint` can say where two are the same."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.emit.core import Name
from specbind.emit.python.naming import NOT_KEYWORDS, RESULTS, error_name, identifier, type_name
from specbind.spec import model as m

PACKAGE = "the package"

# What the templates define themselves, where names of the spec stand beside it.
OWN = (
    "AbiMismatchError", "ClosedError", "Handles", "Library", "LibraryNotFoundError", "Piece", "Session", "Speculative",
    "SpeculativeError",
)  # fmt: skip
ARGUMENTS = {"Speculative": ("target", "draft", "library", "keep_alive"), "Session": ("model", "progress", "library")}
KEYWORDS = {"Speculative": ("params",), "Session": ("session_params", "params")}


def names(spec: m.Spec) -> Iterator[Name]:
    """Types share the package's name space; then values of enums, fields of results, and arguments of the two classes."""
    yield from (own(name, PACKAGE) for name in OWN)
    yield from (Name(type_name(e.name), PACKAGE, e, f"enum '{e.name}'") for e in spec.enums)
    yield from (Name(RESULTS[s.name], PACKAGE, s, f"struct '{s.name}'") for s in spec.structs if s.name in RESULTS)
    errors = [v for v in spec.status.values if v.value < 0]
    yield from (Name(error_name(v), PACKAGE, v, f"value '{v.name}' of '{spec.status.name}'") for v in errors)
    for enum in spec.enums:
        scope = f"values of {type_name(enum.name)}"
        yield from (Name(v.name, scope, v, f"value '{v.name}' of '{enum.name}'") for v in enum.values)
    for struct in spec.structs:
        if struct.name in RESULTS:
            scope = f"fields of {RESULTS[struct.name]}"
            yield from (Name(identifier(f.name), scope, f, f"field '{f.name}' of '{struct.name}'") for f in struct.fields)
    structs = {struct.name: struct for struct in spec.structs}
    for made, listed in KEYWORDS.items():
        scope = f"arguments of {made}"
        yield from (own(name, scope) for name in ARGUMENTS[made])
        for struct in (structs[name] for name in listed if name in structs):
            fields = [field for field in struct.fields if field.name not in NOT_KEYWORDS]
            yield from (Name(identifier(f.name), scope, f, f"field '{f.name}' of '{struct.name}'") for f in fields)


def own(name: str, scope: str) -> Name:
    """A name of the binding itself: it stands first, so that a clash is told of the spec's item."""
    return Name(name, scope, None, f"the binding's own '{name}'")
