"""Enums, structs and callbacks of the safe layer."""

from __future__ import annotations

from typing import Any

from specbind.emit import calls, describe
from specbind.emit.core import NotExpressible
from specbind.emit.swift.convert import SIZE, Conversions
from specbind.emit.swift.text import doc, listing, number, string
from specbind.spec import model as m

# --- enums -----------------------------------------------------------------------------------------------------------


def enums(types: Conversions) -> list[dict[str, Any]]:
    """Enums that the safe layer shows: all but the status, which is an outcome or an error, and what only housekeeping uses."""
    spec, naming = types.spec, types.naming
    shown = {f.type for s in (*calls.given_structs(spec), *calls.received_structs(spec)) for f in s.fields}
    shown |= {p.type for f in spec.functions if not calls.is_housekeeping(spec, f) for p in f.params}
    shown |= {p.type for c in spec.callbacks for p in c.params}
    return [
        {
            "name": naming.type(e.name),
            "doc": doc(e.doc),
            "flags": e.flags,
            "values": [{"name": naming.member(v.name), "value": v.value, "doc": doc(describe.noted(v), 4)} for v in e.values],
        }
        for e in spec.enums
        if e.role != "status" and m.Ref("enum", e.name) in shown
    ]


# --- structs that the caller fills -----------------------------------------------------------------------------------


def given(types: Conversions, struct: m.Struct) -> dict[str, Any]:
    """A struct with its defaults and the way to C's struct. What it loads or is made of stands before the numbers."""
    members = sorted(calls.members(struct), key=lambda member: is_number(member.field))
    fields = [given_field(types, struct, member) for member in members]
    counts = list(dict.fromkeys(member.length.name for member in calls.members(struct) if member.length))
    statements = [line for f in fields for line in f["raw"]] + [line for name in counts for line in length_lines(types, struct, name)]
    parameters = [f"{f['name']}: {f['argument']}" + (f" = {f['default']}" if f["default"] else "") for f in fields]
    return {
        "name": types.naming.type(struct.name),
        "c": types.naming.c.struct(struct.name),
        "start": ".sized()" if struct.growable else "()",
        "doc": doc(describe.noted(struct)),
        "fields": fields,
        "init": listing("public init(", parameters, ") {", 4),
        "init_doc": init_doc(fields),
        "raw": statements,
        "conforms": "" if any(m_.user for m_ in members) else ": Hashable, Sendable",
    }


def init_doc(fields: list[dict[str, Any]]) -> list[str]:
    """Comment of the initialiser, with every parameter."""
    if len(fields) == 1:
        return [f"/// - Parameter {fields[0]['name'].strip('`')}: See the property."]
    return ["/// - Parameters:", *(f"///   - {f['name'].strip('`')}: See the property." for f in fields)]


def is_number(field: m.Field) -> bool:
    return isinstance(field.type, m.Scalar) and field.array is None


def given_field(types: Conversions, struct: m.Struct, member: calls.Member) -> dict[str, Any]:
    """One property: its type, default, comment, and the statements that put it into C's struct."""
    field, kind = member.field, member.field.type
    name, target = types.naming.member(field.name), f"raw.{types.naming.c_field(field.name)}"
    default = "nil" if field.nullable else ""
    argument = ""
    if field.array:
        element = "String" if isinstance(kind, m.Str) else types.raw.value(kind) if isinstance(kind, m.Scalar) else None
        if element is None:
            raise NotExpressible(f"{struct.name}.{field.name}: an array of {kind}")
        texts = element == "String"
        type_ = f"[{element}]" if texts or not field.nullable else f"[{element}]?"
        default = "[]" if texts else default
        raw = [f"{target} = {f'try arena.texts({string(field.name)}, {name})' if texts else f'arena.keep(all: {name})'}"]
    elif isinstance(kind, m.Str):
        type_ = "String?" if field.nullable else "String"
        default = "nil" if field.nullable else string(field.default) if isinstance(field.default, str) else ""
        raw = [f"{target} = try arena.text({string(field.name)}, {name})"]
    elif member.user and isinstance(kind, m.Ref):
        type_ = f"({types.closure(kind)})?"
        user = f"raw.{types.naming.c_field(member.user.name)}"
        raw = [f"({target}, {user}) = lend{types.naming.type(kind.name)}({name}, arena)"]
    elif isinstance(kind, m.Ref) and kind.kind == "struct":
        if not field.nullable:
            raise NotExpressible(f"{struct.name}.{field.name}: a struct that may not be NULL")
        type_ = f"{types.naming.type(kind.name)}?"
        raw = [f"{target} = arena.keep(try {name}?.raw(arena))"]
    else:
        type_ = types.plain(field)
        default = default_value(types, field, type_)
        raw = [f"{target} = {types.to_c(field, name)}"]
    return {
        "name": name,
        "type": type_,
        "argument": argument or type_,
        "default": default,
        "raw": raw,
        "doc": doc(" ".join([describe.noted(field), *facts(field)]), 4),
    }


def default_value(types: Conversions, field: m.Field, type_: str) -> str:
    """The default of a number, truth value or enum."""
    value = field.default if field.default is not None else 0
    if type_ == "Bool":
        return "true" if value else "false"
    if isinstance(field.type, m.Ref):
        values = {v.value: v.name for v in types.spec.enum(field.type.name).values}
        return f".{types.naming.member(values[int(value)])}" if int(value) in values else f"{type_}(rawValue: {value})"
    assert isinstance(field.type, m.Scalar) and not isinstance(value, str)
    return number(float(value)) if field.type.floating else number(int(value))


def facts(field: m.Field) -> list[str]:
    """Unit, range and default as a sentence's end, where there are any."""
    found = [field.unit] if field.unit and not calls.is_boolean(field) else []
    if calls.is_boolean(field):
        if field.default is not None:
            found.append(f"default {'true' if field.default else 'false'}")
    else:
        found += describe.value_facts(field)
    return [f"({'; '.join(found)})"] if found else []


def length_lines(types: Conversions, struct: m.Struct, length: str) -> list[str]:
    """Statements that set `length` to the common length of the arrays that share it."""
    arrays = [(f, types.naming.member(f.name)) for f in struct.fields if f.array == length]
    target, kind = f"raw.{types.naming.c_field(length)}", struct.field(length).type
    assert isinstance(kind, m.Scalar)
    if len(arrays) == 1 and (isinstance(arrays[0][0].type, m.Str) or not arrays[0][0].nullable):
        lines, value = [], f"{arrays[0][1]}.count"
    else:
        pairs = [f"    ({string(f.name)}, {name}{'?' if f.nullable else ''}.count)," for f, name in arrays]
        lines, value = ["let length = try commonLength([", *pairs, "])"], "length"
    return [*lines, f"{target} = {value if kind == SIZE else f'{types.raw.value(kind)}(clamping: {value})'}"]


# --- structs that the library fills ----------------------------------------------------------------------------------


def received(types: Conversions, struct: m.Struct) -> dict[str, Any]:
    """A struct as a value, and the way from C's struct."""
    names = {f.name for f in struct.fields}
    fields = [received_field(types, struct, member) for member in calls.members(struct)]
    bound = types.is_bound(struct)
    return {
        "name": types.naming.type(struct.name),
        "c": types.naming.c.struct(struct.name),
        "doc": doc(describe.noted(struct)),
        "fields": fields,
        "bound": bound,
        "conforms": "" if bound else ": Hashable, Sendable",
        "rate": {"n_drafted", "n_accepted"} <= names,
    }


def received_field(types: Conversions, struct: m.Struct, member: calls.Member) -> dict[str, Any]:
    field, kind = member.field, member.field.type
    name, raw = types.naming.member(field.name), f"raw.{types.naming.c_field(field.name)}"
    if field.array or member.user or calls.is_kind(kind, "struct"):
        raise NotExpressible(f"{struct.name}.{field.name}: a received struct with such a field")
    if isinstance(kind, m.Str):
        type_, value = "String", f"String(c: {raw}, count: raw.{types.naming.c_field(member.length.name)})" if member.length else f"String(c: {raw})"
    elif isinstance(kind, m.Ref) and kind.kind == "foreign":
        inner = types.naming.type(kind.name)
        type_ = f"{inner}?" if field.nullable else inner
        value = f"{inner}({raw}, of: owner)" + ("" if field.nullable else "!")
    elif isinstance(kind, m.Ref) and kind.kind == "handle":
        type_ = types.naming.type(kind.name)
        value = f"{type_}({raw}!, of: owner)"
    else:
        type_, value = types.plain(field), types.from_c(field, raw)
    return {"name": name, "type": type_, "value": value, "doc": doc(" ".join([describe.noted(field), *facts(field)]), 4)}


# --- callbacks -------------------------------------------------------------------------------------------------------


def callbacks(types: Conversions) -> list[dict[str, Any]]:
    """Every callback: the closure, and the C function that calls it."""
    spec, naming = types.spec, types.naming
    found = []
    for item in spec.callbacks:
        if item.returns not in (None, m.SCALARS["i32"]):
            raise NotExpressible(f"{item.name}: a callback returns nothing, or i32 with 0 for going on")
        shown = [p for p in item.params if not isinstance(p.type, m.Pointer)]
        if len(shown) + 1 != len(item.params) or not isinstance(item.params[-1].type, m.Pointer):
            raise NotExpressible(f"{item.name}: a callback's last parameter is the user pointer, and no other is one")
        found.append(
            {
                "name": naming.type(item.name),
                "text": item.doc,
                "c": naming.c.callback(item.name),
                "closure": types.closure(m.Ref("callback", item.name)),
                "head": callback_head(types, item),
                "parameters": ", ".join([*(naming.label(p) for p in shown), "user"]),
                "arguments": ", ".join(types.closure_argument(p)[1] for p in shown),
                "kept": item.thread == "any",
                "returns": item.returns is not None,
            }
        )
    return found


def callback_head(types: Conversions, item: m.Callback) -> list[str]:
    """Signature of the Swift function that makes a C function and a user pointer of a closure."""
    kept = item.thread == "any"
    closure = f"_ closure: ({types.closure(m.Ref('callback', item.name))})?"
    name = f"{'keep' if kept else 'lend'}{types.naming.type(item.name)}"
    returns = f"({types.naming.c.callback(item.name)}?, UnsafeMutableRawPointer?)"
    return listing(f"func {name}(", [closure] if kept else [closure, "_ arena: Arena"], f") -> {returns} {{", 0)
