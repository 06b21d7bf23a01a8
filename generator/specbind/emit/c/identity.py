"""Renders the identity table and the export lists: what the C compiler made of the ABI, and which names leave the library."""

from __future__ import annotations

from typing import Any

from specbind.emit.c.naming import CNaming
from specbind.layout.signature import canonical, fnv1a64
from specbind.spec import model as m
from specbind.spec.version import series


def table_values(spec: m.Spec) -> dict[str, Any]:
    """Values for `identity_table.c.jinja` and `.h.jinja`."""
    naming = CNaming(spec)
    return {
        "header": naming.header,
        "entry": naming.struct("identity_entry"),
        "kind": naming.macro("IDENTITY_KIND_"),
        "structs": [{"name": s.name, "type": naming.struct(s.name), "fields": [f.name for f in s.fields]} for s in spec.structs],
        "constants": [{"owner": "", "name": c.name, "value": naming.constant(c)} for c in spec.constants]
        + [{"owner": e.name, "name": v.name, "value": naming.enum_value(e, v)} for e in spec.enums for v in e.values],
        "functions": [{"name": f.name, "hash": f"UINT64_C(0x{fnv1a64(canonical(spec, f)):016x})"} for f in spec.functions],
    }


def export_values(spec: m.Spec) -> dict[str, Any]:
    """Values for the export lists of the three linkers."""
    naming = CNaming(spec)
    return {
        "library": naming.library,
        "version": spec.version,
        "soversion": series(spec.version),
        "node": f"{naming.macro_prefix}{series(spec.version)}",
        "names": [naming.function(f.name) for f in spec.functions],
    }
