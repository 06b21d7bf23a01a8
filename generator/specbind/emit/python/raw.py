"""The raw layer: C declarations for cffi, and what the load-time check expects of the library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specbind.emit.c.naming import CNaming
from specbind.layout.signature import canonical, fnv1a64
from specbind.spec import model as m


def declarations(spec: m.Spec) -> Iterator[str]:
    """The ABI as C that cffi reads: no preprocessor, enums as `int32_t`."""
    naming = CNaming(spec)
    for foreign in spec.foreign:
        yield f"struct {foreign.name};"
    for handle in spec.handles:
        yield f"typedef struct {naming.handle(handle.name)} {naming.handle(handle.name)};"
    for enum in spec.enums:
        yield f"typedef int32_t {naming.enum(enum.name)};"
    for struct in spec.structs:
        yield f"typedef struct {naming.struct(struct.name)} {naming.struct(struct.name)};"
    for callback in spec.callbacks:
        params = ", ".join(f"{naming.parameter_type(p)} {p.name}" for p in callback.params)
        yield f"typedef {naming.return_type(callback)} (*{naming.callback(callback.name)})({params});"
    for struct in spec.structs:
        yield f"struct {naming.struct(struct.name)} {{"
        for field in struct.fields:
            yield f"    {naming.field_type(field)} {field.name};"
        yield "};"
    for function in spec.functions:
        params = ", ".join(f"{naming.parameter_type(p)} {p.name}" for p in function.params) or "void"
        yield f"{naming.return_type(function)} {naming.function(function.name)}({params});"


def raw_values(spec: m.Spec) -> dict[str, Any]:
    """Values for `_raw.py.jinja`."""
    naming = CNaming(spec)
    return {
        "prefix": spec.prefix,
        "library": naming.library,
        "cdef": list(declarations(spec)),
        "structs": [
            {"name": s.name, "growable": s.growable, "fields": [f.name for f in s.fields]} for s in spec.structs
        ],
        "constants": [("", c.name, c.value) for c in spec.constants]
        + [(e.name, v.name, v.value) for e in spec.enums for v in e.values],
        "signatures": [(f.name, f"0x{fnv1a64(canonical(spec, f)):016X}") for f in spec.functions],
        "version": spec.version,
    }
