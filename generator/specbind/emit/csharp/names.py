"""Every name that the C# back end makes, so that `specbind lint` can say where two are the same."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.emit import calls
from specbind.emit.core import Name
from specbind.emit.csharp.naming import CSharpNaming
from specbind.spec import model as m


def names(spec: m.Spec) -> Iterator[Name]:
    """Types of the namespace, members of the raw layer, and the members of each type."""
    naming = CSharpNaming(spec)
    types = "types of the C# namespace"
    for f in spec.functions:
        yield Name(naming.member(f.name), "class Native", f, f"function '{f.name}'")
        yield from (Name(naming.parameter(p), f"function {f.name}", p, f"parameter '{p.name}' of '{f.name}'") for p in f.params)
    for e in spec.enums:
        if e.role != "status":
            yield Name(naming.type(e.name), types, e, f"enum '{e.name}'")
            yield from (Name(naming.member(v.name), f"enum {e.name}", v, f"value '{v.name}' of '{e.name}'") for v in e.values)
    for s in spec.structs:
        yield Name(naming.type(s.name), types, s, f"struct '{s.name}'")
        yield from (Name(naming.member(f.name), f"struct {s.name}", f, f"field '{f.name}' of '{s.name}'") for f in s.fields)
    for foreign in spec.foreign:
        yield Name(naming.type(foreign.name), types, foreign, f"foreign type '{foreign.name}'")
    for h in spec.handles:
        yield Name(naming.type(h.name), types, h, f"handle '{h.name}'")
        for call in calls.methods(spec, h):
            if not call.constructs:
                yield Name(naming.method(call), f"methods of {naming.type(h.name)}", call.function, f"function '{call.function.name}'")
