"""Every name that the C back end makes, so that `specbind lint` can say where two are the same."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.emit.c.naming import CNaming, neutral_value
from specbind.emit.core import Name
from specbind.spec import model as m

HEADER = "the header's name space"
ABI = "name space abi of the shim"
IMPLEMENTATION = "name space of the shim's functions"


def names(spec: m.Spec) -> Iterator[Name]:
    """Names in the header, where types, functions and constants share one name space, and in the shim."""
    naming = CNaming(spec)
    for f in spec.functions:
        yield Name(naming.function(f.name), HEADER, f, f"function '{f.name}'")
        yield Name(f.name, IMPLEMENTATION, f, f"function '{f.name}'")
        yield from (Name(p.name, f"function {f.name}", p, f"parameter '{p.name}' of '{f.name}'") for p in f.params)
    for e in spec.enums:
        yield Name(naming.enum(e.name), HEADER, e, f"enum '{e.name}'")
        yield Name(e.name, ABI, e, f"enum '{e.name}'")
        for v in e.values:
            yield Name(naming.enum_value(e, v), HEADER, v, f"value '{v.name}' of '{e.name}'")
            yield Name(neutral_value(e, v), ABI, v, f"value '{v.name}' of '{e.name}'")
    for s in spec.structs:
        yield Name(naming.struct(s.name), HEADER, s, f"struct '{s.name}'")
        yield Name(s.name, ABI, s, f"struct '{s.name}'")
        yield from (Name(f.name, f"struct {s.name}", f, f"field '{f.name}' of '{s.name}'") for f in s.fields)
    for h in spec.handles:
        yield Name(naming.handle(h.name), HEADER, h, f"handle '{h.name}'")
        yield Name(f"{h.name}_handle", ABI, h, f"handle '{h.name}'")
    for c in spec.callbacks:
        yield Name(naming.callback(c.name), HEADER, c, f"callback '{c.name}'")
        yield Name(c.name, ABI, c, f"callback '{c.name}'")
        yield from (Name(p.name, f"callback {c.name}", p, f"parameter '{p.name}' of '{c.name}'") for p in c.params)
    for k in spec.constants:
        yield Name(naming.constant(k), HEADER, k, f"constant '{k.name}'")
        yield Name(k.name, ABI, k, f"constant '{k.name}'")
