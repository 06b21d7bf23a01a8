"""Values for the raw layer: the table of functions, and what the load-time check compares."""

from __future__ import annotations

from typing import Any

from specbind.emit import describe
from specbind.emit.swift.naming import SwiftNaming
from specbind.emit.swift.text import doc, listing
from specbind.layout.signature import canonical, fnv1a64
from specbind.spec import model as m

P = m.Passing

SCALARS = {
    "i8": "Int8", "u8": "UInt8", "i16": "Int16", "u16": "UInt16", "i32": "Int32", "u32": "UInt32", "i64": "Int64", "u64": "UInt64",
    "f32": "Float", "f64": "Double", "size": "Int",
}  # fmt: skip


class RawTypes:
    """Swift types of C values, as the compiler imports them from the header."""

    def __init__(self, naming: SwiftNaming) -> None:
        self.naming = naming
        self.c = naming.c

    def value(self, kind: m.Type) -> str:
        """`Int32`, `UnsafePointer<CChar>?`, `OpaquePointer?`."""
        if isinstance(kind, m.Scalar):
            return SCALARS[kind.name]
        if isinstance(kind, m.Str):
            return "UnsafePointer<CChar>?"
        if isinstance(kind, m.Pointer):
            return "UnsafeMutableRawPointer?"
        return {
            "enum": "Int32",
            "struct": f"UnsafePointer<{self.c.struct(kind.name)}>?",
            "handle": "OpaquePointer?",
            "foreign": "OpaquePointer?",
            "callback": f"{self.c.callback(kind.name)}?",
        }[kind.kind]

    def element(self, kind: m.Type) -> str:
        return self.c.struct(kind.name) if isinstance(kind, m.Ref) and kind.kind == "struct" else self.value(kind)

    def parameter(self, param: m.Param) -> str:
        element = self.element(param.type)
        return {
            P.VALUE: self.value(param.type),
            P.STRUCT_IN: f"UnsafePointer<{element}>?",
            P.ARRAY_IN: f"UnsafePointer<{element}>?",
            P.ADDRESS_OUT: f"UnsafeMutablePointer<UnsafePointer<{element}>?>?",
        }.get(param.passing, f"UnsafeMutablePointer<{element}>?")

    def returns(self, function: m.Function) -> str:
        return "Void" if function.returns is None else self.value(function.returns)


def values(spec: m.Spec, naming: SwiftNaming) -> dict[str, Any]:
    """Values for the templates of the raw layer."""
    types = RawTypes(naming)
    c = naming.c
    return {
        "functions": [function_values(spec, naming, types, f) for f in spec.functions],
        "releases": [
            {
                "name": naming.function(f.release),
                "symbol": f.release,
                "type": f.name,
                "doc": doc(f"`{f.release}` of {f.header.removesuffix('.h')}, if it can be reached.", 4),
            }
            for f in spec.foreign
            if f.release
        ],
        "libraries": sorted({f.header.removesuffix(".h") for f in spec.foreign if f.release}),
        "growable": [c.struct(s.name) for s in spec.structs if s.growable],
        "layouts": [
            {
                "name": s.name,
                "variable": naming.function(s.name),
                "type": c.struct(s.name),
                "growable": "true" if s.growable else "false",
                "fields": [{"name": f.name, "member": naming.c_field(f.name)} for f in s.fields],
            }
            for s in spec.structs
        ],
        "constants": [("", k.name, int(k.value)) for k in spec.constants]
        + [(e.name, v.name, v.value) for e in spec.enums for v in e.values],
        "hashes": [(f.name, f"0x{fnv1a64(canonical(spec, f)):016x}") for f in spec.functions],
    }


def function_values(spec: m.Spec, naming: SwiftNaming, types: RawTypes, function: m.Function) -> dict[str, Any]:
    name, parameters = naming.function(function.name), [types.parameter(p) for p in function.params]
    lines = listing("@convention(c) (", parameters, f") -> {types.returns(function)}", 8)
    head = f"public let {name}:"
    if len(lines) == 1 and 4 + len(head) + 1 + len(lines[0]) <= 120:
        declaration = [f"{head} {lines[0]}"]
    else:
        declaration = [head, *(f"    {line}" for line in lines)]
    listed = [f"- `{p.name}`: {parameter_text(spec, function, p)}" for p in function.params]
    return {
        "name": name,
        "symbol": naming.c.function(function.name),
        "doc": doc(describe.noted(function) + ("\n\n" + "\n".join(listed) if listed else ""), 4),
        "lines": declaration,
    }


def parameter_text(spec: m.Spec, function: m.Function, param: m.Param) -> str:
    text = param.doc or (f"The {param.type.name}." if isinstance(param.type, m.Ref) else "")
    facts = describe.parameter_facts(spec, function, param)
    return f"{text} ({'; '.join(facts)})".strip() if facts else text
