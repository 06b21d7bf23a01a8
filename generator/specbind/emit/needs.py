"""What a library must offer so that a binding can check it when it loads and tell what went wrong."""

from __future__ import annotations

from specbind.emit.core import NotExpressible
from specbind.spec import model as m

STRUCT, ENUM, FUNCTION = "identity_entry", "identity_kind", "identity_get"
STATUSES = ("ERROR_INVALID_ARGUMENT", "ERROR_BUFFER_TOO_SMALL", "ERROR_BUSY")


def require_identity(spec: m.Spec) -> None:
    """Raises NotExpressible for a spec without an identity table, the statuses of bindings, or a thread's error text."""
    for kind, items, name in (("struct", spec.structs, STRUCT), ("enum", spec.enums, ENUM), ("function", spec.functions, FUNCTION)):
        if all(item.name != name for item in items):
            raise NotExpressible(f"there is no {kind} '{name}', and bindings compare a library's identity table when they load it")
    if missing := set(STATUSES) - {v.name for v in spec.status.values}:
        raise NotExpressible(f"enum '{spec.status.name}' has no value {min(missing)}, which bindings look at")
    if not any(h.last_error for h in spec.handles):
        raise NotExpressible("no handle has a 'last_error', where bindings find the text of an error")
