"""Documentation of the spec for readers of the safe crate: its names, its links, and no NULL."""

from __future__ import annotations

import re

from specbind.emit import calls
from specbind.emit.rust.naming import RustNaming
from specbind.spec import model as m


class Prose:
    """Rewrites documentation; `wrappers` names the methods that stand for several functions together."""

    def __init__(self, spec: m.Spec, naming: RustNaming, wrappers: dict[str, str]) -> None:
        self.links: dict[str, str] = {}
        for handle in (*spec.handles, None):
            for call in calls.methods(spec, handle):
                owner = naming.type(handle.name) if handle else "Library"
                if call.receiver and call.function.threads == "any":
                    owner += "Remote"
                name = wrappers.get(call.function.name) or naming.method(call)
                self.links[call.function.name] = f"[`{owner}::{name}`](crate::{owner}::{name})"
        self.links |= {h.release: "`drop`" for h in spec.handles}
        self.links |= {s.init: f"[`{naming.type(s.name)}::new`](crate::{naming.type(s.name)}::new)" for s in spec.structs if s.init}

    def __call__(self, text: str, own: frozenset[str] = frozenset()) -> str:
        """`own` are names of parameters or fields, which are no functions here."""
        text = re.sub(r"`([a-z_0-9]+)`", lambda w: self.links.get(w[1], w[0]) if w[1] not in own else w[0], text)
        return re.sub(r"\bNULL\b", "`None`", text)
