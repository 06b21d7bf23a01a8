"""Every name that the Go back end makes, so that `specbind lint` can say where two are the same."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.emit import calls
from specbind.emit.core import Name
from specbind.emit.go.naming import GoNaming
from specbind.spec import model as m

PACKAGE = "the package"


def names(spec: m.Spec) -> Iterator[Name]:
    """Types, constants and constructors share the package's name space; then fields, methods and parameters."""
    naming = GoNaming(spec)
    for kind, items in (("enum", spec.enums), ("struct", spec.structs), ("handle", spec.handles), ("callback", spec.callbacks)):
        yield from (Name(naming.exported(i.name), PACKAGE, i, f"{kind} '{i.name}'") for i in items)
    yield from (Name(naming.exported(f.name), PACKAGE, f, f"foreign type '{f.name}'") for f in spec.foreign)
    yield from (Name(naming.constant(k), PACKAGE, k, f"constant '{k.name}'") for k in spec.constants)
    for enum in spec.enums:
        yield from (Name(naming.enum_value(enum, v), PACKAGE, v, f"value '{v.name}' of '{enum.name}'") for v in enum.values)
    for struct in spec.structs:
        scope = f"fields of {naming.exported(struct.name)}"
        yield from (Name(naming.exported(f.name), scope, f, f"field '{f.name}' of '{struct.name}'") for f in struct.fields)
    for function in spec.functions:
        yield Name(naming.exported(function.name), "methods of raw.Library", function, f"function '{function.name}'")
    for handle in (*spec.handles, None):
        for call in calls.methods(spec, handle):
            owner = "Library" if handle is None or call.constructs else naming.exported(handle.name)
            function = call.function
            yield Name(naming.method(call), f"methods of {owner}", function, f"function '{function.name}'")
            scope = f"parameters of {owner}.{naming.method(call)}"
            for given in call.inputs:
                param = given.param
                yield Name(naming.local(param.name), scope, param, f"parameter '{param.name}' of '{function.name}'")
