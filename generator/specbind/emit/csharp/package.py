"""The files of the class library, and the values of their templates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from specbind.emit import calls
from specbind.emit.core import FileMap, environment, notice
from specbind.emit.csharp import raw, structs
from specbind.emit.csharp.convert import Conversions
from specbind.emit.csharp.methods import method
from specbind.emit.csharp.naming import CSharpNaming
from specbind.emit.csharp.text import summary
from specbind.emit.needs import require_identity
from specbind.spec import model as m

ROOT = "bindings_out/csharp"

# Functions that Pieces.cs puts together, because what they mean together is a sequence of pieces.
STREAMING = ("session_start", "session_next", "session_result", "session_generate", "session_handles", "session_chat_apply", "session_cancel")
WRAPPED = ("session_start", "session_next", "session_generate")

CORE_FILES = (
    "Native", "RawStructs", "Table", "Layout", "Loader", "Library", "Exceptions", "Enums", "Structs", "Foreign", "Handles", "Call", "Callbacks",
    "Objects",
)  # fmt: skip
EXAMPLES = ("Stream", "Rounds")


def render(spec: m.Spec) -> FileMap:
    """All files of this target."""
    require_identity(spec)
    naming = CSharpNaming(spec)
    env = environment(Path(__file__).parent / "templates")
    values = shared_values(spec, naming) | raw.values(spec, naming) | safe_values(spec, naming)
    project = f"{ROOT}/{naming.namespace}"
    files = {
        f"{ROOT}/README.md": env.get_template("package/README.md.jinja").render(values),
        f"{ROOT}/.gitignore": env.get_template("package/.gitignore.jinja").render(values),
        f"{project}/{naming.namespace}.csproj": env.get_template("package/library.csproj.jinja").render(values),
    }
    for name in (*CORE_FILES, *(("Pieces",) if values["streaming"] else ())):
        files[f"{project}/{name}.cs"] = env.get_template(f"core/{name}.cs.jinja").render(values)
    for name in EXAMPLES if values["streaming"] else ():
        files[f"{ROOT}/Examples/{name}/{name}.csproj"] = env.get_template("package/example.csproj.jinja").render(values)
        files[f"{ROOT}/Examples/{name}/Program.cs"] = env.get_template(f"examples/{name}.cs.jinja").render(values)
    return files


def shared_values(spec: m.Spec, naming: CSharpNaming) -> dict[str, Any]:
    """Names that every template may use."""
    return {
        "notice": notice(spec),
        "version": spec.version,
        "namespace": naming.namespace,
        "library": naming.c.library,
        "prefix": naming.c.prefix,
        "environment": naming.environment,
    }


def safe_values(spec: m.Spec, naming: CSharpNaming) -> dict[str, Any]:
    """Values of the safe layer."""
    types = Conversions(spec, naming)
    functions = {f.name for f in spec.functions}
    statuses = {v.name: v.value for v in spec.status.values}
    streaming = set(STREAMING) <= functions
    made = {p.type.name for f in spec.functions for p in f.params if p.passing is m.Passing.OBJECT_OUT and isinstance(p.type, m.Ref)}
    return {
        "streaming": streaming,
        "seq_info": "seq_info" in functions,
        "seq_status": naming.raw("seq_status"),
        "raw_handles": naming.raw("handles"),
        "raw_result": naming.raw("gen_result"),
        "raw_piece": naming.raw("piece"),
        "entry": naming.raw("identity_entry"),
        "identity_get": naming.member("identity_get"),
        "kinds": [(naming.member(v.name), v.value) for v in spec.enum("identity_kind").values],
        "thread_error": naming.member(next(h.last_error for h in spec.handles if h.last_error)),
        "constants_public": [
            {"name": naming.member(k.name), "type": types.raw.value(k.type), "value": k.value, "doc": summary(k.doc, 8)} for k in spec.constants
        ],
        "enums": structs.enums(types),
        "outcomes": [
            {"name": naming.outcome(v), "value": v.value, "doc": summary(v.doc, 8)} for v in spec.status.values if v.value >= 0
        ],
        "failures": [{"name": naming.exception(v), "value": v.value, "doc": summary(v.doc, 4)} for v in spec.status.values if v.value < 0],
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
                "doc": summary(f.doc, 4),
                "release": f.release if f.name in made else None,
            }
            for f in spec.foreign
        ],
        "objects": [object_values(types, h, WRAPPED if streaming else ()) for h in spec.handles],
        "statics": [method(types, c) for c in calls.methods(spec, None)],
    }


def object_values(types: Conversions, handle: m.Handle, hidden: tuple[str, ...]) -> dict[str, Any]:
    """An object with its constructors and methods."""
    naming = types.naming
    all_calls = [c for c in calls.methods(types.spec, handle) if c.function.name not in hidden]
    return {
        "name": naming.type(handle.name),
        "spec_name": handle.name,
        "handle": naming.handle(handle.name),
        "doc": summary(handle.doc, 4),
        "release": naming.member(handle.release),
        "last_error": naming.member(handle.last_error) if handle.last_error else None,
        "constructors": [method(types, c) for c in all_calls if c.constructs],
        "methods": [method(types, c) for c in all_calls if not c.constructs],
    }
