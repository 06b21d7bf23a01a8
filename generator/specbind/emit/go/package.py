"""The files of the Go module, and the values of their templates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from specbind.emit import calls
from specbind.emit.c.package import header_text
from specbind.emit.core import FileMap, environment, notice
from specbind.emit.go import raw, structs
from specbind.emit.go.convert import Conversions
from specbind.emit.go.methods import method
from specbind.emit.go.naming import GoNaming
from specbind.emit.go.text import comment, named
from specbind.spec import model as m

ROOT = "bindings_out/go"

# Functions that streaming.go wraps by hand, because what they mean together is an iterator, and its methods for them.
WRAPPERS = {
    "session_start": "Generate", "session_next": "Generate", "session_generate": "GenerateFunc", "session_chat_apply": "ChatApply",
    "session_cancel": "Cancel",
}  # fmt: skip
STREAMING = {*WRAPPERS, "session_result", "session_handles"}

RAW_FILES = ("doc.go", "types.go", "functions.go", "library.go", "layout.go", "callbacks.go", "callbacks.c", "call.h")
SAFE_FILES = (
    "go.mod", "README.md", "doc.go", "library.go", "layout.go", "errors.go", "enums.go", "structs.go", "foreign.go", "handle.go",
    "objects.go", "callbacks.go", "convert.go",
)  # fmt: skip
STREAMING_FILES = ("streaming.go", "example_test.go")


def render(spec: m.Spec) -> FileMap:
    """All files of this target."""
    naming = GoNaming(spec)
    env = environment(Path(__file__).parent / "templates")
    values = shared_values(spec, naming)
    names = (*SAFE_FILES, *(STREAMING_FILES if values["streaming"] else ()))
    files: FileMap = {}
    for folder, below, listed, more in (
        ("safe", "", names, safe_values(spec, naming)),
        ("raw", "raw/", RAW_FILES, raw.values(spec, naming)),
    ):
        for name in listed:
            files[f"{ROOT}/{below}{name}"] = env.get_template(f"{folder}/{name}.jinja").render(values | more)
    files[f"{ROOT}/raw/{naming.c.header}"] = header_text(spec)  # what cgo includes
    return files


def shared_values(spec: m.Spec, naming: GoNaming) -> dict[str, Any]:
    """Names and versions that every template may use."""
    names = {f.name for f in spec.functions}
    return {
        "notice": notice(spec),
        # the first line is what Go's tools look for, the second what specbind does
        "generated": f"// Code generated from {Path(spec.source).name}. DO NOT EDIT.\n// {notice(spec)}",
        "version": spec.version,
        "package": naming.package,
        "header": naming.c.header,
        "library": naming.c.library,
        "macro": naming.c.macro_prefix,
        "lib": naming.environment("LIB"),
        "libraries": sorted({f.header.removesuffix(".h") for f in spec.foreign if f.release}),
        "streaming": names >= STREAMING,
        "seq_info": "seq_info" in names,
    }


def safe_values(spec: m.Spec, naming: GoNaming) -> dict[str, Any]:
    """Values of the package over the raw one."""
    wrappers = WRAPPERS if {f.name for f in spec.functions} >= STREAMING else {}
    types = Conversions(spec, naming, wrappers)
    made = {p.type.name for f in spec.functions for p in f.params if p.passing is m.Passing.OBJECT_OUT}
    stopping = {r for f in spec.functions if calls.call(spec, f).constructs for r in f.results}
    failures = [v for v in spec.status.values if v.value < 0 or v.name in stopping]
    return {
        "package_doc": comment(f"Package {naming.package} is {lower(types.prose(spec.doc))}"),
        "failures": [
            {"sentinel": naming.sentinel(v), "name": v.name, "doc": comment(f"{naming.sentinel(v)}: {types.prose(v.doc)}", 4)} for v in failures
        ],
        "sentinel_lines": structs.aligned([(f"raw.{naming.enum_value(spec.status, v)}", naming.sentinel(v)) for v in failures]),
        "constants": [{"name": naming.constant(k), "doc": comment(types.prose(k.doc), 4)} for k in spec.constants],
        "enums": [enum_values(types, e) for e in spec.enums if e.name != "identity_kind"],
        "given": [structs.given(types, s) for s in calls.given_structs(spec)],
        "received": [structs.received(types, s) for s in calls.received_structs(spec)],
        "callbacks": structs.callbacks(types),
        "foreign_types": [foreign_values(naming, f, f.name in made) for f in spec.foreign],
        "objects": [object_values(types, h, wrappers) for h in spec.handles],
        "statics": [method(types, c) for c in calls.methods(spec, None)]
        + [method(types, c) for h in spec.handles for c in calls.methods(spec, h) if c.constructs],
        "error_texts": [naming.exported(h.last_error) for h in spec.handles if h.last_error],
    }  # fmt: skip


def enum_values(types: Conversions, enum: m.Enum) -> dict[str, Any]:
    name = types.naming.exported(enum.name)
    return {
        "name": name,
        "doc": comment(types.prose(named(name, enum.doc, f"is {types.naming.c.enum(enum.name)}"))),
        "values": [{"name": types.naming.enum_value(enum, v), "doc": comment(types.prose(v.doc), 4)} for v in enum.values],
    }


def foreign_values(naming: GoNaming, foreign: m.ForeignType, made: bool) -> dict[str, Any]:
    name = naming.exported(foreign.name)
    return {
        "name": name,
        "sys": foreign.name,
        "doc": comment(named(name, foreign.doc, f"is a {foreign.name} of {foreign.header}")),
        "release": foreign.release if made else None,
        "release_name": naming.exported(foreign.release or ""),
    }


def object_values(types: Conversions, handle: m.Handle, wrappers: dict[str, str]) -> dict[str, Any]:
    """An object and its methods."""
    naming = types.naming
    name = naming.exported(handle.name)
    return {
        "name": name,
        "spec_name": handle.name,
        "doc": comment(types.prose(named(name, handle.doc, f"is {handle.c_name}"))),
        "release": naming.exported(handle.release),
        "last_error": naming.exported(handle.last_error or ""),
        "borrowed": any(f.type == m.Ref("handle", handle.name) for s in calls.received_structs(types.spec) for f in s.fields),
        "streams": bool(wrappers) and handle.name == "session",
        "methods": [
            method(types, c) for c in calls.methods(types.spec, handle) if c.function.name not in wrappers and not c.constructs
        ],
    }


def lower(text: str) -> str:
    return text[:1].lower() + text[1:]
