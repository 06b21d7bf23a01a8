"""Values for the templates: types as dart:ffi has them, functions as look-ups in the opened library."""

from __future__ import annotations

import re
from typing import Any

from specbind.emit import describe
from specbind.emit.c.text import paragraphs
from specbind.emit.dart.naming import DartNaming
from specbind.layout.signature import canonical, fnv1a64
from specbind.spec import model as m

P = m.Passing
WIDTH = 80

SCALARS = {
    "i8": "Int8", "u8": "Uint8", "i16": "Int16", "u16": "Uint16", "i32": "Int32", "u32": "Uint32", "i64": "Int64", "u64": "Uint64",
    "f32": "Float", "f64": "Double", "size": "Size",
}  # fmt: skip

# A float and a double whose bytes are all 0x41, so that a write shows where they are.
PROBES = {"Float": "12.078431129455566", "Double": "2261634.5098039214"}


class Types:
    """Types of C values in dart:ffi: the native one, and the one that Dart code sees."""

    def __init__(self, naming: DartNaming) -> None:
        self.naming = naming

    def native(self, kind: m.Type) -> str:
        if isinstance(kind, m.Scalar):
            return f"ffi.{SCALARS[kind.name]}"
        if isinstance(kind, m.Str):
            return "ffi.Pointer<ffi.Char>"
        if isinstance(kind, m.Pointer):
            return "ffi.Pointer<ffi.Void>"
        return {
            "enum": "ffi.Int32",
            "struct": f"ffi.Pointer<{self.naming.type(kind.name)}>",
            "handle": f"ffi.Pointer<{self.naming.opaque(self.c_name(kind))}>",
            "foreign": f"ffi.Pointer<{self.naming.opaque(kind.name)}>",
            "callback": f"ffi.Pointer<ffi.NativeFunction<{self.naming.callback(kind.name)}>>",
        }[kind.kind]

    def c_name(self, kind: m.Ref) -> str:
        """C name of an opaque object."""
        return self.naming.c.handle(kind.name) if kind.kind == "handle" else kind.name

    def element(self, kind: m.Type) -> str:
        return self.naming.type(kind.name) if isinstance(kind, m.Ref) and kind.kind == "struct" else self.native(kind)

    def parameter(self, param: m.Param) -> str:
        if param.passing is P.VALUE:
            return self.native(param.type)
        pointer = f"ffi.Pointer<{self.element(param.type)}>"
        return f"ffi.Pointer<{pointer}>" if param.passing is P.ADDRESS_OUT else pointer

    def field(self, field: m.Field) -> str:
        return f"ffi.Pointer<{self.element(field.type)}>" if field.array else self.native(field.type)

    def dart(self, native: str) -> str:
        """What Dart code sees of a native type."""
        if native.startswith("ffi.Pointer<") or native == "ffi.Void":
            return native.replace("ffi.Void", "void") if native == "ffi.Void" else native
        return "double" if native in ("ffi.Float", "ffi.Double") else "int"

    def returns(self, item: m.Function | m.Callback) -> str:
        return "ffi.Void" if item.returns is None else self.native(item.returns)


def values(spec: m.Spec, naming: DartNaming) -> dict[str, Any]:
    """Values for every template."""
    types = Types(naming)
    opaques = [(f.doc, f.name) for f in spec.foreign] + [(h.doc, h.c_name) for h in spec.handles]
    return {
        "opaques": [{"doc": doc(text), "name": naming.opaque(name)} for text, name in opaques],
        "constants": [{"doc": doc(k.doc), "name": naming.member(k.name), "value": k.value} for k in spec.constants],
        "enums": [
            {
                "doc": doc(e.doc),
                "name": naming.type(e.name),
                "values": [{"doc": doc(describe.noted(v), 2), "name": naming.member(v.name), "value": v.value} for v in e.values],
            }
            for e in spec.enums
        ],
        "callbacks": [callback_values(naming, types, c) for c in spec.callbacks],
        "structs": [struct_values(naming, types, s) for s in spec.structs],
        "functions": [function_values(spec, naming, types, f) for f in spec.functions],
        "checked_constants": [("", k.name, int(k.value)) for k in spec.constants]
        + [(e.name, v.name, v.value) for e in spec.enums for v in e.values],
        "hashes": [(f.name, f"{fnv1a64(canonical(spec, f)):016x}") for f in spec.functions],
        "failures": [{"doc": doc(v.doc), "name": naming.exception(v), "value": v.value} for v in spec.status.values if v.value < 0],
        "owners": [
            {
                "doc": doc(h.doc),
                "name": naming.owner(h),
                "spec_name": h.name,
                "opaque": naming.opaque(h.c_name),
                "symbol": naming.c.function(h.release),
                "release": naming.member(h.release),
                "last_error": naming.member(h.last_error) if h.last_error else None,
            }
            for h in spec.handles
        ],
        "session_owner": naming.owner(spec.handles[-1]) if spec.handles else "",
        "session_opaque": naming.opaque(spec.handles[-1].c_name) if spec.handles else "",
        "kinds": {v.name.lower(): v.value for v in spec.enum("identity_kind").values},
        "identity_get": naming.member("identity_get"),
        "entry": naming.type("identity_entry"),
        "thread_error": naming.member(next(h.last_error for h in spec.handles if h.last_error)),
    }


def callback_values(naming: DartNaming, types: Types, callback: m.Callback) -> dict[str, Any]:
    thread = "Called on the thread of the call that it was given to." if callback.thread == "caller" else "Called from any thread."
    return {
        "doc": doc(f"{callback.doc} {thread} Needed until: {callback.lifetime}."),
        "name": naming.callback(callback.name),
        "lines": signature(
            f"typedef {naming.callback(callback.name)} = {types.returns(callback)} Function(",
            [f"{types.parameter(p)} {naming.member(p.name)}" for p in callback.params],
            ");",
        ),
    }


def struct_values(naming: DartNaming, types: Types, struct: m.Struct) -> dict[str, Any]:
    fields = []
    for field in struct.fields:
        native = types.field(field)
        pointer = native.startswith("ffi.Pointer<")
        text = describe.noted(field) or f"Size of the struct in bytes: `ffi.sizeOf<{naming.type(struct.name)}>()`."
        facts = describe.field_facts(field)
        fields.append(
            {
                "doc": doc(f"{text} ({'; '.join(facts)})" if facts else text, 2),
                "name": field.name,
                "member": naming.member(field.name),
                "annotation": None if pointer else f"@{native}()",
                "type": types.dart(native),
                "probe": "ffi.Pointer.fromAddress(-1)" if pointer else PROBES.get(native.removeprefix("ffi."), "-1"),
            }
        )
    return {
        "doc": doc(describe.noted(struct)),
        "name": naming.type(struct.name),
        "spec_name": struct.name,
        "variable": naming.member(struct.name),
        "growable": struct.growable,
        "fields": fields,
    }


def function_values(spec: m.Spec, naming: DartNaming, types: Types, function: m.Function) -> dict[str, Any]:
    natives = [types.parameter(p) for p in function.params]
    names = [naming.member(p.name) for p in function.params]
    seen, returns = [types.dart(t) for t in natives], types.returns(function)
    result, symbol = types.dart(returns), naming.c.function(function.name)
    listed = [f"- `{name}`: {parameter_text(spec, function, p)}" for name, p in zip(names, function.params, strict=True)]
    named = [f"{t} {n}" for t, n in zip(seen, names, strict=True)]
    return {
        "doc": doc(describe.noted(function) + ("\n\n" + "\n".join(listed) if listed else ""), 2),
        "symbol": symbol,
        "lines": [
            *([f"@Deprecated({string(function.deprecated)})"] if function.deprecated else []),
            *signature(f"late final {result} Function(", named, f") {naming.member(function.name)} =", 2),
            "    library.lookupFunction<",
            *(f"      {line}" for line in signature(f"{returns} Function(", natives, "),", 8)),
            *(f"      {line}" for line in signature(f"{result} Function(", seen, ")", 8)),
            f"    >('{symbol}');",
        ],
    }


def parameter_text(spec: m.Spec, function: m.Function, param: m.Param) -> str:
    text = param.doc or (f"The {param.type.name}." if isinstance(param.type, m.Ref) else "")
    facts = describe.parameter_facts(spec, function, param)
    return f"{text} ({'; '.join(facts)})".strip() if facts else text


def signature(head: str, items: list[str], tail: str, indent: int = 0) -> list[str]:
    """`head(a, b)tail` on one line if it fits behind `indent`, else one item per line with a comma behind each."""
    one = head + ", ".join(items) + tail
    if indent + len(one) <= WIDTH or not items:
        return [one]
    return [head, *(f"  {item}," for item in items), tail]


def doc(text: str, indent: int = 0) -> list[str]:
    """`text` as a documentation comment, without the indent."""
    text = re.sub(r"\bNULL\b", "`nullptr`", text)
    return [f"/// {line}".rstrip() for line in paragraphs(text, WIDTH - indent - 4)]


def string(text: str) -> str:
    """A Dart string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\$").replace("\n", "\\n") + "'"
