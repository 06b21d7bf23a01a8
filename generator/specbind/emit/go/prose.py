"""Documentation of the spec for readers of Go: its names, its links, and no NULL."""

from __future__ import annotations

import re
from collections.abc import Mapping

from specbind.emit import calls
from specbind.emit.go.naming import GoNaming
from specbind.spec import model as m


class Prose:
    """Rewrites documentation; `wrappers` names the methods that stand for several functions together."""

    def __init__(self, spec: m.Spec, naming: GoNaming, wrappers: dict[str, str]) -> None:
        self.links: dict[str, str] = {}
        for handle in (*spec.handles, None):
            for call in calls.methods(spec, handle):
                owner = "Library" if handle is None or call.constructs else naming.exported(handle.name)
                name = wrappers.get(call.function.name) or naming.method(call)
                self.links[call.function.name] = f"[{owner}.{name}]"
        self.links |= {h.release: f"[{naming.exported(h.name)}.Close]" for h in spec.handles}
        self.links |= {s.init: f"[Default{naming.exported(s.name)}]" for s in spec.structs if s.init}
        self.constants = {k.name: naming.constant(k) for k in spec.constants}

    def __call__(self, text: str, own: Mapping[str, str] | None = None) -> str:
        """`own` spells parameters or fields, which are no functions here."""
        known = self.links | dict(own or {})
        text = re.sub(r"`([a-z_0-9]+)`", lambda w: known.get(w[1], w[1]), text)
        text = re.sub(r"\b[A-Z_]+\b", lambda w: self.constants.get(w[0], w[0]), text)
        return re.sub(r"\bNULL\b", "nil", text).replace("`", "")
