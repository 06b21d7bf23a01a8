"""Every name that the Dart back end makes, so that `specbind lint` can say where two are the same."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.emit.core import Name
from specbind.emit.dart.naming import DartNaming
from specbind.spec import model as m


def names(spec: m.Spec) -> Iterator[Name]:
    """Types and constants of the library, entries of the function table, and the members of each type."""
    naming = DartNaming(spec)
    top = "names of the Dart library"
    for f in spec.functions:
        yield Name(naming.member(f.name), "the table of functions", f, f"function '{f.name}'")
        yield from (Name(naming.member(p.name), f"function {f.name}", p, f"parameter '{p.name}' of '{f.name}'") for p in f.params)
    for k in spec.constants:
        yield Name(naming.member(k.name), top, k, f"constant '{k.name}'")
    for e in spec.enums:
        yield Name(naming.type(e.name), top, e, f"enum '{e.name}'")
        yield from (Name(naming.member(v.name), f"enum {e.name}", v, f"value '{v.name}' of '{e.name}'") for v in e.values)
    for s in spec.structs:
        yield Name(naming.type(s.name), top, s, f"struct '{s.name}'")
        yield from (Name(naming.member(f.name), f"struct {s.name}", f, f"field '{f.name}' of '{s.name}'") for f in s.fields)
    for foreign in spec.foreign:
        yield Name(naming.opaque(foreign.name), top, foreign, f"foreign type '{foreign.name}'")
    for h in spec.handles:
        yield Name(naming.opaque(h.c_name), top, h, f"handle '{h.name}'")
        yield Name(naming.owner(h), top, h, f"handle '{h.name}'")
    for c in spec.callbacks:
        yield Name(naming.callback(c.name), top, c, f"callback '{c.name}'")
