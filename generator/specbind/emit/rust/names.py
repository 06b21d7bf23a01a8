"""Every name that the Rust back end makes in the safe crate, so that `specbind lint` can say where two are the same.

The -sys crate has C's own names, which the C back end vouches for.
"""

from __future__ import annotations

from collections.abc import Iterator

from specbind.emit import calls
from specbind.emit.core import Name
from specbind.emit.rust.naming import RustNaming
from specbind.spec import model as m

TYPES = "types of the crate"


def names(spec: m.Spec) -> Iterator[Name]:
    """Types, their fields, values and methods, and the parameters of those."""
    naming = RustNaming(spec)
    for kind, items in (("enum", spec.enums), ("struct", spec.structs), ("handle", spec.handles), ("callback", spec.callbacks)):
        yield from (Name(naming.type(i.name), TYPES, i, f"{kind} '{i.name}'") for i in items)
    yield from (Name(naming.type(f.name), TYPES, f, f"foreign type '{f.name}'") for f in spec.foreign)
    yield from (Name(k.name, TYPES, k, f"constant '{k.name}'") for k in spec.constants)
    for enum in spec.enums:
        scope = f"values of {naming.type(enum.name)}"
        yield from (Name(naming.variant(v), scope, v, f"value '{v.name}' of '{enum.name}'") for v in enum.values)
    for struct in spec.structs:
        scope = f"fields of {naming.type(struct.name)}"
        yield from (Name(naming.identifier(f.name), scope, f, f"field '{f.name}' of '{struct.name}'") for f in struct.fields)
    for handle in (*spec.handles, None):
        owner = naming.type(handle.name) if handle else "Library"
        for call in calls.methods(spec, handle):
            function = call.function
            yield Name(naming.method(call), f"methods of {owner}", function, f"function '{function.name}'")
            scope = f"parameters of {owner}::{naming.method(call)}"
            for given in call.inputs:
                param = given.param
                yield Name(naming.identifier(param.name), scope, param, f"parameter '{param.name}' of '{function.name}'")
