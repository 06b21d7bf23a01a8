"""Values for the templates of the raw package, which mirrors the ABI one to one in Go's spelling."""

from __future__ import annotations

from typing import Any

from specbind.emit import describe
from specbind.emit.core import NotExpressible
from specbind.emit.go.naming import GoNaming
from specbind.emit.go.text import comment, named
from specbind.layout import signature
from specbind.spec import model as m

P = m.Passing


class RawTypes:
    """Go types of C values, and the conversions between both in a cgo call."""

    def __init__(self, naming: GoNaming) -> None:
        self.naming = naming
        self.c = naming.c

    def value(self, kind: m.Type) -> str:
        """`int32`, `*byte`, `*Spec`; a callback is the address of a C function, a user pointer a number."""
        if isinstance(kind, m.Scalar):
            return {"size": "uintptr", "f32": "float32", "f64": "float64"}.get(kind.name) or scalar(kind)
        if isinstance(kind, m.Str):
            return "*byte"
        if isinstance(kind, m.Pointer):
            return "uintptr"
        if kind.kind == "callback":
            return "unsafe.Pointer"
        name = self.naming.exported(kind.name)
        return name if kind.kind == "enum" else f"*{name}"

    def element(self, kind: m.Type) -> str:
        if isinstance(kind, m.Ref) and kind.kind == "struct":
            return self.naming.exported(kind.name)
        return self.value(kind)

    def parameter(self, param: m.Param) -> str:
        if param.passing is P.VALUE:
            return self.value(param.type)
        stars = "**" if param.passing is P.ADDRESS_OUT else "*"
        return stars + self.element(param.type)

    def field(self, field: m.Field) -> str:
        return f"*{self.element(field.type)}" if field.array else self.value(field.type)

    def to_c(self, param: m.Param) -> str:
        """The cgo expression for a parameter of the same name."""
        name, kind = self.naming.local(param.name), param.type
        if param.passing is P.VALUE:
            if isinstance(kind, m.Scalar):
                return f"C.{kind.c_name}({name})"
            if isinstance(kind, m.Pointer):
                return f"C.uintptr_t({name})"
            if isinstance(kind, m.Ref) and kind.kind == "enum":
                return f"C.{self.c.enum(kind.name)}({name})"
            if isinstance(kind, m.Ref) and kind.kind == "callback":
                return f"C.{self.c.callback(kind.name)}({name})"
        return f"({self.cgo(self.c.parameter_type(param))})(unsafe.Pointer({name}))"

    def cgo(self, c_type: str) -> str:
        """A C pointer type in cgo's spelling: `const float **` -> `**C.float`."""
        bare = c_type.replace("const ", " ")
        base = bare.replace("*", "").strip()
        base = f"struct_{base.removeprefix('struct ')}" if base.startswith("struct ") else base
        return "*" * bare.count("*") + f"C.{base}"


def scalar(kind: m.Scalar) -> str:
    return f"{'int' if kind.signed else 'uint'}{kind.bits}"


def values(spec: m.Spec, naming: GoNaming) -> dict[str, Any]:
    """Values for all templates of the raw package."""
    types = RawTypes(naming)
    return {
        "opaque": [opaque_values(naming, f.name, f.doc, f"is {f.name} of {f.header}") for f in spec.foreign]
        + [opaque_values(naming, h.name, h.doc, f"is {h.c_name}") for h in spec.handles],
        "constants": [
            {"name": naming.constant(k), "type": types.value(k.type), "value": k.value, "doc": comment(k.doc, 4)} for k in spec.constants
        ],
        "enums": [enum_values(naming, e) for e in spec.enums],
        "structs": [struct_values(naming, types, s) for s in spec.structs],
        "functions": [function_values(spec, naming, types, f) for f in spec.functions],
        "releases": [
            {"symbol": f.release, "name": naming.exported(f.release), "type": naming.exported(f.name), "c_type": f"struct {f.name}",
             "library": f.header.removesuffix(".h")}
            for f in spec.foreign
            if f.release
        ],
        "callbacks": [callback_values(naming, types, k) for k in spec.callbacks],
        "hashes": [
            (f.name, f"0x{signature.fnv1a64(signature.canonical(spec, f)):016x}") for f in spec.functions
        ],
        "listed": [("", k.name, naming.constant(k)) for k in spec.constants]
        + [(e.name, v.name, naming.enum_value(e, v)) for e in spec.enums for v in e.values],
    }  # fmt: skip


def opaque_values(naming: GoNaming, name: str, doc: str, otherwise: str) -> dict[str, Any]:
    return {"name": naming.exported(name), "doc": comment(named(naming.exported(name), doc, otherwise))}


def enum_values(naming: GoNaming, enum: m.Enum) -> dict[str, Any]:
    name = naming.exported(enum.name)
    return {
        "name": name,
        "doc": comment(named(name, enum.doc, f"is {naming.c.enum(enum.name)}")),
        "values": [
            {"name": naming.enum_value(enum, v), "spec_name": v.name, "value": v.value, "doc": comment(v.doc, 4)} for v in enum.values
        ],
    }


def struct_values(naming: GoNaming, types: RawTypes, struct: m.Struct) -> dict[str, Any]:
    name = naming.exported(struct.name)
    return {
        "name": name,
        "spec_name": struct.name,
        "growable": struct.growable,
        "c_name": naming.c.struct(struct.name),
        "doc": comment(named(name, struct.doc, f"is {naming.c.struct(struct.name)}")),
        "fields": [
            {
                "name": naming.exported(f.name),
                "spec_name": f.name,
                "c_name": naming.c_field(f.name),
                "type": types.field(f),
                "doc": comment(field_doc(naming, struct, f), 4),
            }
            for f in struct.fields
        ],
    }


def field_doc(naming: GoNaming, struct: m.Struct, field: m.Field) -> str:
    if field.is_struct_size:
        return f"unsafe.Sizeof({naming.exported(struct.name)}{{}}), set by the caller."
    facts = describe.field_facts(field)
    return f"{field.doc} ({'; '.join(facts)})" if facts else field.doc


def function_values(spec: m.Spec, naming: GoNaming, types: RawTypes, function: m.Function) -> dict[str, Any]:
    name, symbol = naming.exported(function.name), naming.c.function(function.name)
    text = named(name, function.doc, f"is {symbol}")
    if function.params:
        text += "\n\n" + "\n".join(f"- {naming.local(p.name)}: {parameter_doc(spec, function, p)}" for p in function.params)
    if function.deprecated:
        text += f"\n\nDeprecated: {function.deprecated}"
    c_types = ["uintptr_t" if isinstance(p.type, m.Pointer) else naming.c.parameter_type(p) for p in function.params]
    given = [f"(void *) a{i}" if isinstance(p.type, m.Pointer) else f"a{i}" for i, p in enumerate(function.params)]
    returned = naming.c.return_type(function)
    returns = "" if function.returns is None else types.value(function.returns)
    call = f"C.call_{function.name}({', '.join(['l.functions', *map(types.to_c, function.params)])})"
    if returns.startswith("*"):
        body = f"return ({returns})(unsafe.Pointer({call}))"
    else:
        body = f"return {returns}({call})" if returns else call
    return {
        "name": name,
        "symbol": symbol,
        "field": function.name,
        "doc": comment(text),
        "parameters": ", ".join(f"{naming.local(p.name)} {types.parameter(p)}" for p in function.params),
        "returns": f" {returns}" if returns else "",
        "body": body,
        "c_member": f"{spaced(returned)}(*{member(function.name)})({', '.join(map(naming.c.parameter_type, function.params)) or 'void'});",
        "c_call": f"static inline {spaced(returned)}call_{function.name}("
        + ", ".join(["const call_table * t", *(f"{spaced(t)}a{i}" for i, t in enumerate(c_types))])
        + f") {{ {'' if returned == 'void' else 'return '}t->{member(function.name)}({', '.join(given)}); }}",
    }


def member(name: str) -> str:
    """A member of the C table: its names share no name space with C's functions, only with C's words."""
    return f"{name}_"


def spaced(c_type: str) -> str:
    return c_type if c_type.endswith("*") else f"{c_type} "


def parameter_doc(spec: m.Spec, function: m.Function, param: m.Param) -> str:
    text = param.doc or (f"The {param.type.name}." if isinstance(param.type, m.Ref) else "")
    facts = describe.parameter_facts(spec, function, param)
    return f"{text} ({'; '.join(facts)})".strip() if facts else text


def callback_values(naming: GoNaming, types: RawTypes, callback: m.Callback) -> dict[str, Any]:
    """A callback: a Go function type, the exported Go function, and the C function in between."""
    shown = [p for p in callback.params if not isinstance(p.type, m.Pointer)]
    if len(shown) + 1 != len(callback.params) or not isinstance(callback.params[-1].type, m.Pointer):
        raise NotExpressible(f"{callback.name}: a callback's last parameter is the user pointer, and no other is one")
    name = naming.exported(callback.name)
    export = f"go_{naming.c.prefix}{callback.name}"
    returned = naming.c.return_type(callback)
    returns = "" if callback.returns is None else types.value(callback.returns)

    def from_c(param: m.Param) -> str:
        local = naming.local(param.name)
        kind = types.parameter(param)
        return f"({kind})(unsafe.Pointer({local}))" if kind.startswith("*") else f"{kind}({local})"

    def cgo(param: m.Param) -> str:
        text = naming.c.parameter_type(param)
        return types.cgo(text) if "*" in text else f"C.{text}"

    called = f"cgo.Handle(user).Value().({name})({', '.join(map(from_c, shown))})"
    return {
        "name": name,
        "export": export,
        "c_function": f"{naming.c.prefix}go_{callback.name}",
        "doc": comment(named(name, callback.doc, f"is {naming.c.callback(callback.name)}")),
        "type": f"func({', '.join(f'{naming.local(p.name)} {types.parameter(p)}' for p in shown)}){' ' + returns if returns else ''}",
        "export_parameters": ", ".join([*(f"{naming.local(p.name)} {cgo(p)}" for p in shown), "user C.uintptr_t"]),
        "export_returns": f" C.{returned}" if returns else "",
        "export_body": f"return C.{returned}({called})" if returns else called,
        "c_head": f"{spaced(returned)}{naming.c.prefix}go_{callback.name}("
        + ", ".join(f"{spaced(naming.c.parameter_type(p))}{p.name}" for p in callback.params)
        + ")",
        "c_body": f"{'return ' if returns else ''}{export}("
        + ", ".join([*(cast_away(naming.c.parameter_type(p)) + p.name for p in shown), f"(uintptr_t) {callback.params[-1].name}"])
        + ");",
    }


def cast_away(c_type: str) -> str:
    """cgo's own prototype of an exported function knows no `const`."""
    return f"({c_type.replace('const ', '')}) " if "const " in c_type else ""
