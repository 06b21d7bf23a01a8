"""The files of the two crates, and the values of their templates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from specbind.emit import calls
from specbind.emit.core import FileMap, environment, notice
from specbind.emit.rust import raw, structs
from specbind.emit.rust.convert import Conversions
from specbind.emit.rust.methods import error_variant, method
from specbind.emit.rust.naming import RustNaming
from specbind.emit.rust.text import doc
from specbind.spec import model as m

ROOT = "bindings_out/rust"

# Functions that streaming.rs wraps by hand, because what they mean together is an iterator, and its methods for them.
WRAPPERS = {
    "session_start": "generate", "session_next": "generate", "session_generate": "generate_with", "session_chat_apply": "chat_apply",
}  # fmt: skip
STREAMING = {*WRAPPERS, "session_result", "session_handles"}

WORKSPACE_FILES = ("Cargo.toml", "rustfmt.toml", ".gitignore", "README.md")
SYS_FILES = ("Cargo.toml", "build.rs", "README.md", "src/lib.rs", "src/types.rs", "src/functions.rs", "src/module.rs", "src/identity.rs")
SAFE_FILES = (
    "Cargo.toml", "README.md", "src/lib.rs", "src/library.rs", "src/layout.rs", "src/error.rs", "src/enums.rs", "src/structs.rs",
    "src/foreign.rs", "src/handle.rs", "src/objects.rs", "src/callbacks.rs", "src/convert.rs",
)  # fmt: skip
STREAMING_FILES = ("src/streaming.rs", "examples/stream.rs", "examples/rounds.rs")


def render(spec: m.Spec) -> FileMap:
    """All files of this target."""
    naming = RustNaming(spec)
    env = environment(Path(__file__).parent / "templates")
    values = shared_values(spec, naming) | raw.values(spec, naming) | safe_values(spec, naming)
    streaming = STREAMING_FILES if values["streaming"] else ()
    places: dict[str, tuple[str, tuple[str, ...]]] = {
        "workspace": ("", WORKSPACE_FILES),
        "sys": (f"{naming.sys_crate}/", SYS_FILES),
        "safe": (f"{naming.crate}/", (*SAFE_FILES, *streaming)),
    }
    files: FileMap = {}
    for folder, (below, listed) in places.items():
        for name in listed:
            template = env.get_template(f"{folder}/{Path(name).name}.jinja")
            files[f"{ROOT}/{below}{name}"] = template.render(values)
    return files


def shared_values(spec: m.Spec, naming: RustNaming) -> dict[str, Any]:
    """Names and versions that every template may use."""
    return {
        "notice": notice(spec),
        "version": spec.version,
        "crate": naming.crate,
        "sys_crate": naming.sys_crate,
        "module": naming.module,
        "sys_module": naming.sys_module,
        "header": naming.c.header,
        "library": naming.c.library,
        "macro": naming.c.macro_prefix,
        "prefix": naming.c.prefix,
        "lib": naming.environment("LIB"),
        "lib_dir": naming.environment("LIB_DIR"),
        "libraries": sorted({f.header.removesuffix(".h") for f in spec.foreign if f.release}),
    }


def safe_values(spec: m.Spec, naming: RustNaming) -> dict[str, Any]:
    """Values of the safe crate."""
    defined = {f.name for f in spec.functions}
    streaming = defined >= STREAMING
    wrappers = WRAPPERS if streaming else {}
    types = Conversions(spec, naming, wrappers)
    status = spec.status
    made = {p.type.name for f in spec.functions for p in f.params if p.passing is m.Passing.OBJECT_OUT}
    return {
        "crate_doc": doc(types.prose(spec.doc), 0, "//!"),
        "streaming": streaming,
        "safe_constants": [{"name": k.name, "sys": naming.c.constant(k), "type": types.raw.value(k.type), "doc": doc(k.doc)} for k in spec.constants],
        "safe_enums": structs.enums(types),
        "outcomes": [
            {"name": "Done" if v.value == 0 else naming.variant(v), "sys": naming.c.enum_value(status, v), "doc": doc(types.prose(v.doc), 4)}
            for v in status.values
            if v.value >= 0
        ],
        "failures": [
            {"name": error_variant(v.name), "sys": naming.c.enum_value(status, v), "doc": doc(types.prose(v.doc), 4)}
            for v in status.values
            if v.value < 0
        ],
        "given": [structs.given(types, s) for s in calls.given_structs(spec)],
        "received": [structs.received(types, s) for s in calls.received_structs(spec)],
        "rust_callbacks": structs.callbacks(types),
        "foreign_types": [
            {"name": naming.type(f.name), "sys": f.name, "doc": doc(f.doc), "release": f.release if f.name in made else None, "header": f.header}
            for f in spec.foreign
        ],
        "objects": [object_values(types, h, wrappers) for h in spec.handles],
        "statics": [method(types, c) for c in calls.methods(spec, None)],
        "seq_info": "seq_info" in defined,
        "error_texts": [h.last_error for h in spec.handles if h.last_error],
    }  # fmt: skip


def object_values(types: Conversions, handle: m.Handle, wrappers: dict[str, str]) -> dict[str, Any]:
    """An object: its methods for its own thread, and those that any thread may call."""
    all_calls = [c for c in calls.methods(types.spec, handle) if c.function.name not in wrappers]
    return {
        "name": types.naming.type(handle.name),
        "spec_name": handle.name,
        "sys": f"sys::{handle.c_name}",
        "doc": doc(types.prose(handle.doc)),
        "release": types.naming.identifier(handle.release),
        "last_error": types.naming.identifier(handle.last_error) if handle.last_error else None,
        "borrows": any(calls.is_kind(i.param.type, "foreign") for c in all_calls if c.constructs for i in c.inputs),
        "borrowed": any(f.type == m.Ref("handle", handle.name) for s in calls.received_structs(types.spec) for f in s.fields),
        "methods": [method(types, c) for c in all_calls if c.function.threads != "any"],
        "remote": [method(types, c) for c in all_calls if c.function.threads == "any"],
    }
