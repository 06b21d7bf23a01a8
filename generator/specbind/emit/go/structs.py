"""Structs, enums and callbacks of the Go package."""

from __future__ import annotations

from typing import Any

from specbind.emit import calls, describe
from specbind.emit.core import NotExpressible
from specbind.emit.go.convert import Conversions
from specbind.emit.go.text import comment, named, string
from specbind.spec import model as m

# --- structs that the caller fills -----------------------------------------------------------------------------------


def given(types: Conversions, struct: m.Struct) -> dict[str, Any]:
    """A struct with its defaults and the way to C's struct."""
    naming = types.naming
    name = naming.exported(struct.name)
    members = calls.members(struct)
    fields = [given_field(types, struct, member) for member in members]
    counts = list(dict.fromkeys(member.length.name for member in members if member.length))
    lines = [line for f in fields for line in f["before"]] + [line for count in counts for line in length_lines(types, struct, count)]
    values = [pair for f in fields for pair in f["raw"]]
    values += [(naming.exported(c), naming.local(c)) for c in counts]
    if struct.growable:
        values.insert(0, ("StructSize", f"uint32(unsafe.Sizeof(raw.{name}{{}}))"))
    return {
        "name": name,
        "doc": comment(types.prose(named(name, struct.doc, f"is given as {naming.c.struct(struct.name)}"), own(types, struct))),
        "fields": fields,
        "defaults": aligned([(f["name"], f["default"]) for f in fields if f["default"]]),
        "has_defaults": struct.init is not None,
        "before": lines,
        "values": aligned(values),
        "pins": any("pin." in line for line in lines) or any("pin" in value for _, value in values),
    }


def aligned(pairs: list[tuple[str, str]]) -> list[str]:
    """`Key: value,` lines as gofmt aligns them."""
    width = max((len(key) for key, _ in pairs), default=0) + 1
    return [f"{key + ':':{width}} {value}," for key, value in pairs]


FAILED = ("if err != nil {", "\treturn nil, err", "}")


def given_field(types: Conversions, struct: m.Struct, member: calls.Member) -> dict[str, Any]:
    field, kind = member.field, member.field.type
    naming = types.naming
    name, local = naming.exported(field.name), naming.local(field.name)
    me = f"p.{name}"
    default = ""
    before: list[str] = []
    raw = [(name, me)]
    if field.array:
        if isinstance(kind, m.Str):
            type_, raw = "[]string", [(name, local)]
            before = [f"{local}, err := pin.texts({string(field.name)}, {me})", *FAILED]
        elif isinstance(kind, m.Scalar):
            type_ = f"[]{types.raw.value(kind)}"
            raw = [(name, f"pinned(pin, {me})")]
        else:
            raise NotExpressible(f"{struct.name}.{field.name}: an array of {kind.name}")
    elif isinstance(kind, m.Str):
        type_, raw = "string", [(name, local)]
        method = "optionalText" if field.nullable else "text"
        before = [f"{local}, err := pin.{method}({string(field.name)}, {me})", *FAILED]
        default = string(str(field.default)) if field.default else ""
    elif isinstance(kind, m.Ref) and kind.kind == "callback":
        if member.user is None:
            raise NotExpressible(f"{struct.name}.{field.name}: a callback without a user pointer behind it")
        user = naming.local(member.user.name)
        type_, raw = naming.exported(kind.name), [(name, local), (naming.exported(member.user.name), user)]
        before = [f"{local}, {user} := pin.lend{naming.exported(kind.name)}({me})"]
    elif isinstance(kind, m.Ref) and kind.kind == "struct":
        if not field.nullable:
            raise NotExpressible(f"{struct.name}.{field.name}: a struct that may not be NULL")
        type_, raw = f"*{naming.exported(kind.name)}", [(name, local)]
        before = [f"{local}, err := rawOrNil({me}, pin)", *FAILED, f"keep(pin, {local})"]
    else:
        type_ = types.plain(field)
        if type_ == "bool":
            raw = [(name, f"truth({me})")]
        if field.default:
            default = "true" if type_ == "bool" else str(field.default) if not isinstance(kind, m.Ref) else f"{type_}({field.default})"
    text = types.prose(" ".join([field.doc, *facts(field)]), own(types, struct))
    return {"name": name, "type": type_, "default": default, "before": before, "raw": raw, "doc": comment(text, 4)}


def own(types: Conversions, struct: m.Struct) -> dict[str, str]:
    """How the fields of a struct are spelled."""
    return {f.name: types.naming.exported(f.name) for f in struct.fields}


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
    """Statements that make a local of the common length of the arrays that share `length`."""
    naming = types.naming
    arrays = [f for f in struct.fields if f.array == length]
    local, type_ = naming.local(length), types.raw.value(struct.field(length).type)
    if len(arrays) == 1:
        return [f"{local} := {type_}(len(p.{naming.exported(arrays[0].name)}))"]
    given_ = ", ".join(f"arrayLength{{{string(f.name)}, len(p.{naming.exported(f.name)}), {'true' if f.nullable else 'false'}}}" for f in arrays)
    return [f"{local}, err := commonLength[{type_}]({given_})", *FAILED]


# --- structs that the library fills ----------------------------------------------------------------------------------


def received(types: Conversions, struct: m.Struct) -> dict[str, Any]:
    """A struct as a value, and the way from C's struct."""
    naming = types.naming
    name = naming.exported(struct.name)
    fields = [received_field(types, struct, member) for member in calls.members(struct)]
    return {
        "name": name,
        "doc": comment(types.prose(named(name, struct.doc, f"is received as {naming.c.struct(struct.name)}"), own(types, struct))),
        "fields": fields,
        "values": aligned([(f["name"], f["value"]) for f in fields]),
        "bound": types.is_bound(struct),
        "rate": {"n_drafted", "n_accepted"} <= {f.name for f in struct.fields},
    }


def received_field(types: Conversions, struct: m.Struct, member: calls.Member) -> dict[str, Any]:
    field, kind = member.field, member.field.type
    naming = types.naming
    name = naming.exported(field.name)
    raw = f"r.{name}"
    if field.array or member.user or calls.is_kind(kind, "struct"):
        raise NotExpressible(f"{struct.name}.{field.name}: a received struct with such a field")
    if isinstance(kind, m.Str):
        type_ = "string"
        value = f"textOf({raw}, r.{naming.exported(member.length.name)})" if member.length else f"raw.Text({raw})"
    elif isinstance(kind, m.Ref) and kind.kind == "foreign":
        type_ = naming.exported(kind.name)
        value = f"{type_}{{pointer: {raw}}}"
    elif isinstance(kind, m.Ref) and kind.kind == "handle":
        type_ = f"*{naming.exported(kind.name)}"
        value = f"borrow{naming.exported(kind.name)}(owner, {raw})"
    else:
        type_ = types.plain(field)
        value = f"{raw} != 0" if type_ == "bool" else raw
    text = types.prose(" ".join([field.doc, *facts(field)]), own(types, struct))
    return {"name": name, "type": type_, "value": value, "doc": comment(text, 4)}


# --- callbacks -------------------------------------------------------------------------------------------------------


def callbacks(types: Conversions) -> list[dict[str, Any]]:
    """Every callback: its Go type, and how it reaches the library.

    `use` is `lent` in a struct's field, `kept` by a function for longer than its call, `called` during one call only.
    """
    spec, naming = types.spec, types.naming
    in_structs = {f.type for s in calls.given_structs(spec) for f in s.fields}
    found = []
    for item in spec.callbacks:
        if item.returns not in (None, m.SCALARS["i32"]):
            raise NotExpressible(f"{item.name}: a callback returns nothing, or i32 with 0 for going on")
        shown = [p for p in item.params if not isinstance(p.type, m.Pointer)]
        name = naming.exported(item.name)
        text = types.prose(named(name, item.doc.replace(calls.GO_ON, "returns whether to go on"), "is a callback"))
        if item.thread == "any":
            text += " It may be called on any thread, several at once."
        found.append(
            {
                "name": name,
                "doc": comment(text),
                "use": "lent" if m.Ref("callback", item.name) in in_structs else "kept" if item.thread == "any" else "called",
                "type": f"func({', '.join(f'{naming.local(p.name)} {argument_type(types, p)}' for p in shown)})"
                + ("" if item.returns is None else " bool"),
                "raw_parameters": ", ".join(f"{naming.local(p.name)} {raw_type(types, p)}" for p in shown),
                "values": ", ".join(argument(types, p) for p in shown),
                "returns": item.returns is not None,
            }
        )
    return found


def raw_type(types: Conversions, param: m.Param) -> str:
    """The type in the raw package, seen from outside it."""
    text = types.raw.parameter(param)
    stars, base = text[: len(text) - len(text.lstrip("*"))], text.lstrip("*")
    return f"{stars}raw.{base}" if base[:1].isupper() else text


def argument_type(types: Conversions, param: m.Param) -> str:
    kind = param.type
    if isinstance(kind, m.Str):
        return "string"
    if param.passing is m.Passing.STRUCT_IN:
        return types.naming.exported(kind.name)
    return types.plain(param)


def argument(types: Conversions, param: m.Param) -> str:
    name, kind = types.naming.local(param.name), param.type
    if isinstance(kind, m.Str):
        return f"raw.Text({name})"
    if param.passing is m.Passing.STRUCT_IN:
        return f"received{types.naming.exported(kind.name)}({name})"
    return name
