"""Values for the raw layer: blittable structs, the functions in both profiles, and what the load-time check compares."""

from __future__ import annotations

from typing import Any

from specbind.emit.csharp.naming import CSharpNaming
from specbind.emit.csharp.text import listing
from specbind.layout.signature import canonical, fnv1a64
from specbind.spec import model as m

P = m.Passing

SCALARS = {
    "i8": "sbyte", "u8": "byte", "i16": "short", "u16": "ushort", "i32": "int", "u32": "uint", "i64": "long", "u64": "ulong",
    "f32": "float", "f64": "double", "size": "UIntPtr",
}  # fmt: skip


class RawTypes:
    """C# types of C values. Everything is blittable: the marshaller copies nothing."""

    def __init__(self, naming: CSharpNaming) -> None:
        self.naming = naming

    def value(self, kind: m.Type) -> str:
        """`int`, `UIntPtr`, `IntPtr` for every pointer."""
        if isinstance(kind, m.Scalar):
            return SCALARS[kind.name]
        return "int" if isinstance(kind, m.Ref) and kind.kind == "enum" else "IntPtr"

    def element(self, kind: m.Type) -> str:
        return self.naming.raw(kind.name) if isinstance(kind, m.Ref) and kind.kind == "struct" else self.value(kind)

    def parameter(self, param: m.Param) -> str:
        if param.passing is P.VALUE:
            return self.value(param.type)
        return f"{self.element(param.type)}{'**' if param.passing is P.ADDRESS_OUT else '*'}"

    def field(self, field: m.Field) -> str:
        return "IntPtr" if field.array else self.value(field.type)

    def returns(self, item: m.Function | m.Callback) -> str:
        return "void" if item.returns is None else self.value(item.returns)


def values(spec: m.Spec, naming: CSharpNaming) -> dict[str, Any]:
    """Values for the templates of the raw layer."""
    types = RawTypes(naming)
    return {
        "raw_structs": [
            {
                "name": naming.raw(s.name),
                "spec_name": s.name,
                "c": naming.c.struct(s.name),
                "growable": s.growable,
                "fields": [{"name": f.name, "member": naming.raw_field(f.name), "type": types.field(f)} for f in s.fields],
            }
            for s in spec.structs
        ],
        "functions": [function_values(naming, types, f) for f in spec.functions],
        "raw_callbacks": [
            {
                "name": naming.raw_callback(c.name),
                "returns": types.returns(c),
                "parameters": ", ".join(callback_parameters(naming, types, c)),
            }
            for c in spec.callbacks
        ],
        "releases": [
            {"name": naming.member(f.release), "symbol": f.release, "library": f.header.removesuffix(".h")} for f in spec.foreign if f.release
        ],
        "libraries": sorted({f.header.removesuffix(".h") for f in spec.foreign if f.release}),
        "constants": [("", k.name, int(k.value)) for k in spec.constants]
        + [(e.name, v.name, v.value) for e in spec.enums for v in e.values],
        "hashes": [(f.name, f"0x{fnv1a64(canonical(spec, f)):016x}") for f in spec.functions],
    }


def function_values(naming: CSharpNaming, types: RawTypes, function: m.Function) -> dict[str, Any]:
    name, returns = naming.member(function.name), types.returns(function)
    parameters = [f"{types.parameter(p)} {naming.raw_field(p.name)}" for p in function.params]
    return {
        "name": name,
        "symbol": naming.c.function(function.name),
        "delegate": f"{name}Function",
        "imported": listing(f"internal static partial {returns} {name}(", parameters, ");", 8),
        "declared": listing(f"internal delegate {returns} {name}Function(", parameters, ");", 8),
    }


def callback_parameters(naming: CSharpNaming, types: RawTypes, callback: m.Callback) -> list[str]:
    """Parameters of a C callback; the last one is the user pointer."""
    names = [*(naming.parameter(p) for p in callback.params[:-1]), "user"]
    return [f"{types.parameter(p)} {name}" for p, name in zip(callback.params, names, strict=True)]
