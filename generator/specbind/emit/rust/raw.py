"""Values for the templates of the -sys crate, which mirrors the ABI one to one under its C names."""

from __future__ import annotations

from typing import Any

from specbind.emit import describe
from specbind.emit.rust.naming import RustNaming
from specbind.emit.rust.text import WIDTH, doc, listing
from specbind.layout import engine, signature
from specbind.layout.targets import TARGETS
from specbind.spec import model as m

P = m.Passing

# One platform for each pointer width: without implicit padding the others of that width have the same offsets.
REFERENCE = {"64": "x86_64-linux", "32": "armv7-linux"}


class RawTypes:
    """Rust types of C values."""

    def __init__(self, naming: RustNaming) -> None:
        self.naming = naming
        self.c = naming.c

    def value(self, kind: m.Type) -> str:
        """`i32`, `*const c_char`, `*mut llama_speculative`, a callback's alias."""
        if isinstance(kind, m.Scalar):
            return "usize" if kind.bits == 0 else kind.name
        if isinstance(kind, m.Str):
            return "*const c_char"
        if isinstance(kind, m.Pointer):
            return "*mut c_void"
        return {
            "enum": lambda: self.c.enum(kind.name),
            "struct": lambda: f"*const {self.c.struct(kind.name)}",
            "handle": lambda: f"*mut {self.c.handle(kind.name)}",
            "foreign": lambda: f"*mut {kind.name}",
            "callback": lambda: self.c.callback(kind.name),
        }[kind.kind]()

    def element(self, kind: m.Type) -> str:
        return self.c.struct(kind.name) if isinstance(kind, m.Ref) and kind.kind == "struct" else self.value(kind)

    def parameter(self, param: m.Param) -> str:
        element = self.element(param.type)
        return {
            P.VALUE: self.value(param.type),
            P.STRUCT_IN: f"*const {element}",
            P.ARRAY_IN: f"*const {element}",
            P.ADDRESS_OUT: f"*mut *const {element}",
        }.get(param.passing, f"*mut {element}")

    def field(self, field: m.Field) -> str:
        return f"*const {self.element(field.type)}" if field.array else self.value(field.type)

    def parameters(self, item: m.Function | m.Callback) -> list[str]:
        return [f"{self.naming.identifier(p.name)}: {self.parameter(p)}" for p in item.params]

    def returns(self, item: m.Function | m.Callback) -> str:
        return f" -> {self.value(item.returns)}" if item.returns is not None else ""


def values(spec: m.Spec, naming: RustNaming) -> dict[str, Any]:
    """Values for all templates of the -sys crate."""
    types = RawTypes(naming)
    c = naming.c
    layouts = {width: engine.compute(spec, TARGETS[target]) for width, target in REFERENCE.items()}
    return {
        "opaque": [{"doc": doc(f.doc), "name": f.name} for f in spec.foreign]
        + [{"doc": doc(h.doc), "name": h.c_name} for h in spec.handles],
        "constants": [
            {"doc": doc(k.doc), "name": c.constant(k), "type": types.value(k.type), "value": k.value} for k in spec.constants
        ],
        "enums": [
            {
                "doc": doc(e.doc),
                "name": c.enum(e.name),
                "values": [{"doc": doc(v.doc), "name": c.enum_value(e, v), "value": v.value} for v in e.values],
            }
            for e in spec.enums
        ],
        "callbacks": [
            {
                "doc": doc(k.doc),
                "lines": alias(c.callback(k.name), types.parameters(k), types.returns(k)),
            }
            for k in spec.callbacks
        ],
        "structs": [struct_values(naming, types, s) for s in spec.structs],
        "layouts": [
            {"width": width, "structs": [layout_values(naming, computed[s.name]) for s in spec.structs]}
            for width, computed in layouts.items()
        ],
        "functions": [function_values(spec, naming, types, f) for f in spec.functions],
        "releases": releases(spec),
        "identity": identity_values(spec, naming),
    }  # fmt: skip


def alias(name: str, parameters: list[str], returns: str) -> list[str]:
    """The type of a callback, which rustfmt breaks from the outside in."""
    head, pointer = f"pub type {name} =", f'unsafe extern "C" fn({", ".join(parameters)}){returns}'
    if len(f"{head} Option<{pointer}>;") <= WIDTH:
        return [f"{head} Option<{pointer}>;"]
    if len(f"    Option<{pointer}>;") <= WIDTH:
        return [head, f"    Option<{pointer}>;"]
    inner = listing('unsafe extern "C" fn(', parameters, f"){returns},", 4)
    return [f"{head} Option<", *(f"    {line}" for line in inner), ">;"]


def struct_values(naming: RustNaming, types: RawTypes, struct: m.Struct) -> dict[str, Any]:
    return {
        "doc": doc(struct.doc),
        "name": naming.c.struct(struct.name),
        "growable": struct.growable,
        "fields": [
            {"doc": doc(field_doc(naming, struct, f), 4), "name": naming.identifier(f.name), "type": types.field(f)}
            for f in struct.fields
        ],
    }


def field_doc(naming: RustNaming, struct: m.Struct, field: m.Field) -> str:
    if field.is_struct_size:
        return f"`size_of::<{naming.c.struct(struct.name)}>()`, set by the caller."
    facts = describe.field_facts(field)
    return f"{field.doc} ({'; '.join(facts)})" if facts else field.doc


def layout_values(naming: RustNaming, layout: engine.StructLayout) -> dict[str, Any]:
    return {
        "name": naming.c.struct(layout.name),
        "size": layout.size,
        "fields": [{"name": naming.identifier(f.name), "offset": f.offset} for f in layout.fields],
    }


def function_values(spec: m.Spec, naming: RustNaming, types: RawTypes, function: m.Function) -> dict[str, Any]:
    symbol = naming.c.function(function.name)
    parameters, returns = types.parameters(function), types.returns(function)
    text = function.doc
    if function.deprecated:
        text = f"Deprecated: {function.deprecated} {text}"
    listed = [f"- `{p.name}`: {parameter_doc(spec, function, p)}" for p in function.params]
    if listed:
        text += "\n\n" + "\n".join(listed)
    return {
        "field": naming.identifier(function.name),
        "symbol": symbol,
        "doc": doc(text, 4),
        "pointer": pointer_lines(naming.identifier(function.name), parameters, returns),
        "declaration": listing(f"pub fn {symbol}(", parameters, f"){returns};", 8),
    }


def pointer_lines(name: str, parameters: list[str], returns: str) -> list[str]:
    """A field of the function table, in the three shapes that rustfmt gives it."""
    head, pointer = f"pub {name}:", f'unsafe extern "C" fn({", ".join(parameters)}){returns},'
    if 4 + len(f"{head} {pointer}") > WIDTH >= 8 + len(pointer):
        return [head, f"    {pointer}"]
    return listing(f'{head} unsafe extern "C" fn(', parameters, f"){returns},", 4)


def parameter_doc(spec: m.Spec, function: m.Function, param: m.Param) -> str:
    text = param.doc or (f"The {param.type.name}." if isinstance(param.type, m.Ref) else "")
    facts = describe.parameter_facts(spec, function, param)
    return f"{text} ({'; '.join(facts)})".strip() if facts else text


def releases(spec: m.Spec) -> list[dict[str, str]]:
    """Functions of other libraries that end what ours hands out."""
    return [
        {"symbol": f.release, "type": f.name, "library": f.header.removesuffix(".h"), "doc": f"Ends a `{f.name}`."}
        for f in spec.foreign
        if f.release
    ]


def identity_values(spec: m.Spec, naming: RustNaming) -> dict[str, Any]:
    """What the library's identity table must say."""
    return {
        "structs": [
            {
                "name": s.name,
                "type": naming.c.struct(s.name),
                "growable": "true" if s.growable else "false",
                "fields": [{"name": f.name, "identifier": naming.identifier(f.name)} for f in s.fields],
            }
            for s in spec.structs
        ],
        "constants": [("", k.name, naming.c.constant(k)) for k in spec.constants]
        + [(e.name, v.name, naming.c.enum_value(e, v)) for e in spec.enums for v in e.values],
        "functions": [
            (f.name, f"0x{signature.fnv1a64(signature.canonical(spec, f)):016x}") for f in spec.functions
        ],
    }
