"""The files of the Swift package, and the values of their templates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from specbind.emit import calls
from specbind.emit.c.package import header_text
from specbind.emit.core import FileMap, environment, notice
from specbind.emit.needs import require_identity
from specbind.emit.swift import raw, structs
from specbind.emit.swift.convert import Conversions
from specbind.emit.swift.methods import method
from specbind.emit.swift.naming import SwiftNaming
from specbind.emit.swift.text import doc
from specbind.spec import model as m

ROOT = "bindings_out/swift"

# Functions that Pieces.swift puts together, because what they mean together is a sequence of pieces.
STREAMING = ("session_start", "session_next", "session_result", "session_generate", "session_handles", "session_chat_apply")
WRAPPED = ("session_start", "session_next", "session_generate", "session_chat_apply")

PACKAGE_FILES = ("Package.swift", ".swift-format", ".gitignore", "README.md")
CORE_FILES = (
    "Functions", "Table", "Layout", "Module", "Library", "Errors", "Enums", "Structs", "Foreign", "Handle", "Objects", "Callbacks", "Arena",
)  # fmt: skip


def render(spec: m.Spec) -> FileMap:
    """All files of this target."""
    require_identity(spec)
    naming = SwiftNaming(spec)
    env = environment(Path(__file__).parent / "templates")
    values = shared_values(spec, naming) | raw.values(spec, naming) | safe_values(spec, naming)
    files = {f"{ROOT}/{name}": env.get_template(f"package/{name}.jinja").render(values) for name in PACKAGE_FILES}
    c = f"{ROOT}/Sources/{naming.c_module}"
    for name in ("module.modulemap", "foreign.h"):
        files[f"{c}/{name}"] = env.get_template(f"package/{name}.jinja").render(values)
    files[f"{c}/{naming.c.header}"] = header_text(spec)
    for name in (*CORE_FILES, *(("Pieces",) if values["streaming"] else ())):
        files[f"{ROOT}/Sources/{naming.module}/{name}.swift"] = env.get_template(f"core/{name}.swift.jinja").render(values)
    for name in ("stream", "rounds") if values["streaming"] else ():
        files[f"{ROOT}/Examples/{name}/main.swift"] = env.get_template(f"examples/{name}.swift.jinja").render(values)
    return files


def shared_values(spec: m.Spec, naming: SwiftNaming) -> dict[str, Any]:
    """Names that every template may use."""
    return {
        "notice": notice(spec),
        "module": naming.module,
        "c_module": naming.c_module,
        "header": naming.c.header,
        "library": naming.c.library,
        "prefix": naming.c.prefix,
        "macro": naming.c.macro_prefix,
        "environment": naming.environment,
        "folder": ROOT,
    }


def safe_values(spec: m.Spec, naming: SwiftNaming) -> dict[str, Any]:
    """Values of the safe layer."""
    types = Conversions(spec, naming)
    functions = {f.name for f in spec.functions}
    statuses = {v.name: v.value for v in spec.status.values}
    streaming = set(STREAMING) <= functions
    made = {p.type.name for f in spec.functions for p in f.params if p.passing is m.Passing.OBJECT_OUT and isinstance(p.type, m.Ref)}
    return {
        "streaming": streaming,
        "seq_info": "seq_info" in functions,
        "constants_public": [
            {"name": naming.member(k.name), "type": types.raw.value(k.type), "value": k.value, "doc": doc(k.doc)} for k in spec.constants
        ],
        "enums": structs.enums(types),
        "kinds": [(naming.member(v.name), v.value) for v in spec.enum("identity_kind").values],
        "identity_get": naming.function("identity_get"),
        "thread_error": naming.function(next(h.last_error for h in spec.handles if h.last_error)),
        "outcomes": [
            {"name": naming.outcome(v), "value": v.value, "doc": doc(v.doc, 4)} for v in spec.status.values if v.value >= 0
        ],
        "failures": [{"name": naming.error(v), "value": v.value, "doc": doc(v.doc, 4)} for v in spec.status.values if v.value < 0],
        "invalid_argument": statuses["ERROR_INVALID_ARGUMENT"],
        "buffer_too_small": statuses["ERROR_BUFFER_TOO_SMALL"],
        "busy": statuses["ERROR_BUSY"],
        "given": [structs.given(types, s) for s in calls.given_structs(spec)],
        "received": [structs.received(types, s) for s in calls.received_structs(spec)],
        "callbacks": structs.callbacks(types),
        "foreign": [
            {
                "name": naming.type(f.name),
                "c": f.name,
                "owned": naming.owned(f.name),
                "doc": doc(f.doc),
                "release": f.release if f.name in made else None,
                "function": naming.function(f.release) if f.release else None,
            }
            for f in spec.foreign
        ],
        "objects": [object_values(types, h, WRAPPED if streaming else ()) for h in spec.handles],
        "statics": [method(types, c) for c in calls.methods(spec, None)],
    }


def object_values(types: Conversions, handle: m.Handle, hidden: tuple[str, ...]) -> dict[str, Any]:
    """An object: its methods for its own thread, and those that any thread may call."""
    naming = types.naming
    all_calls = [c for c in calls.methods(types.spec, handle) if c.function.name not in hidden]
    return {
        "name": naming.type(handle.name),
        "spec_name": handle.name,
        "member": naming.member(handle.name),
        "remote_name": naming.remote(handle.name),
        "doc": doc(handle.doc),
        "release": naming.function(handle.release),
        "last_error": naming.function(handle.last_error) if handle.last_error else None,
        "methods": [method(types, c) for c in all_calls if c.function.threads != "any"],
        "remote": [method(types, c) for c in all_calls if c.function.threads == "any"],
    }
