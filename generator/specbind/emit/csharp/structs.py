"""Enums, structs and callbacks of the safe layer."""

from __future__ import annotations

from typing import Any

from specbind.emit import calls, describe
from specbind.emit.core import NotExpressible
from specbind.emit.csharp.convert import SIZE, Conversions
from specbind.emit.csharp.raw import callback_parameters
from specbind.emit.csharp.text import listing, string, summary
from specbind.spec import model as m

# --- enums -----------------------------------------------------------------------------------------------------------


def enums(types: Conversions) -> list[dict[str, Any]]:
    """Enums that the safe layer shows: all but the status, which is an outcome or an exception, and what only housekeeping uses."""
    spec, naming = types.spec, types.naming
    shown = {f.type for s in (*calls.given_structs(spec), *calls.received_structs(spec)) for f in s.fields}
    shown |= {p.type for f in spec.functions if not calls.is_housekeeping(spec, f) for p in f.params}
    shown |= {p.type for c in spec.callbacks for p in c.params}
    return [
        {
            "name": naming.type(e.name),
            "doc": summary(e.doc, 4),
            "flags": e.flags,
            "values": [{"name": naming.member(v.name), "value": v.value, "doc": summary(describe.noted(v), 8)} for v in e.values],
        }
        for e in spec.enums
        if e.role != "status" and m.Ref("enum", e.name) in shown
    ]


# --- structs that the caller fills -----------------------------------------------------------------------------------


def given(types: Conversions, struct: m.Struct) -> dict[str, Any]:
    """A class with its defaults as initialisers, and the way to C's struct."""
    fields = [given_field(types, struct, member) for member in calls.members(struct)]
    counts = list(dict.fromkeys(member.length.name for member in calls.members(struct) if member.length))
    return {
        "name": types.naming.type(struct.name),
        "raw": types.naming.raw(struct.name),
        "start": f"{types.naming.raw(struct.name)}.Sized()" if struct.growable else f"default({types.naming.raw(struct.name)})",
        "doc": summary(describe.noted(struct), 4),
        "fields": fields,
        "statements": [line for f in fields for line in f["raw"]] + [line for c in counts for line in length_lines(types, struct, c)],
    }


def given_field(types: Conversions, struct: m.Struct, member: calls.Member) -> dict[str, Any]:
    """One property: its type, initialiser, comment, and the statements that put it into C's struct."""
    field, kind = member.field, member.field.type
    name, target = types.naming.member(field.name), f"raw.{types.naming.raw_field(field.name)}"
    initial = ""
    if field.array:
        if isinstance(kind, m.Str):
            type_, value = "IReadOnlyList<string>", f"call.Texts({string(field.name)}, {name})"
        elif isinstance(kind, m.Scalar):
            type_, value = f"{types.raw.value(kind)}[]", f"call.Pin({name})"
        else:
            raise NotExpressible(f"{struct.name}.{field.name}: an array of {kind}")
        raw = [f"{target} = {value};"]
    elif isinstance(kind, m.Str):
        type_ = "string"
        initial = string(field.default) if isinstance(field.default, str) else ""
        raw = [f"{target} = call.Text({string(field.name)}, {name});"]
    elif member.user and isinstance(kind, m.Ref):
        user = f"raw.{types.naming.raw_field(member.user.name)}"
        type_ = types.closure(kind)
        callback = f"Callbacks.{types.naming.type(kind.name)}"
        raw = [f"{user} = call.Lend({name});", f"{target} = {name} == null ? IntPtr.Zero : {callback};"]
    elif isinstance(kind, m.Ref) and kind.kind == "struct":
        inner = types.naming.raw(kind.name)
        type_ = types.naming.type(kind.name)
        raw = [
            f"if ({name} != null)",
            "{",
            f"    var inner = ({inner}*)call.Allocate(sizeof({inner}));",
            f"    inner[0] = {name}.ToRaw(call);",
            f"    {target} = (IntPtr)inner;",
            "}",
        ]
    else:
        type_ = types.plain(field)
        initial = default_value(types, field, type_)
        raw = [f"{target} = {types.to_c(field, name)};"]
    return {
        "name": name, "type": type_, "initial": initial, "raw": raw, "doc": summary(" ".join([describe.noted(field), *facts(field)]), 8),
    }  # fmt: skip


def default_value(types: Conversions, field: m.Field, type_: str) -> str:
    """The default of a number, truth value or enum; empty where C#'s own is the same."""
    value = field.default if field.default is not None else 0
    if type_ == "bool":
        return "true" if value else ""
    if not value:
        return ""
    if isinstance(field.type, m.Ref):
        values = {v.value: v.name for v in types.spec.enum(field.type.name).values}
        return f"{type_}.{types.naming.member(values[int(value)])}"
    if isinstance(field.type, m.Scalar) and field.type.floating:
        return f"{float(value)!r}{'f' if field.type.bits == 32 else ''}"
    return str(value)


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
    texts = isinstance(arrays[0][0].type, m.Str)
    pairs = [f"({string(f.name)}, {name}?.{'Count' if texts else 'Length'})" for f, name in arrays]
    kind = struct.field(length).type
    cast = "(UIntPtr)" if kind == SIZE else ""
    return listing(f"raw.{types.naming.raw_field(length)} = {cast}Arguments.CommonLength(", pairs, ");", 12)


# --- structs that the library fills ----------------------------------------------------------------------------------


def received(types: Conversions, struct: m.Struct) -> dict[str, Any]:
    """A class with read-only properties, and the way from C's struct."""
    names = {f.name for f in struct.fields}
    return {
        "name": types.naming.type(struct.name),
        "raw": types.naming.raw(struct.name),
        "doc": summary(describe.noted(struct), 4),
        "fields": [received_field(types, struct, member) for member in calls.members(struct)],
        "bound": types.is_bound(struct),
        "rate": {"n_drafted", "n_accepted"} <= names,
    }


def received_field(types: Conversions, struct: m.Struct, member: calls.Member) -> dict[str, Any]:
    field, kind = member.field, member.field.type
    name, raw = types.naming.member(field.name), f"raw.{types.naming.raw_field(field.name)}"
    if field.array or member.user or calls.is_kind(kind, "struct"):
        raise NotExpressible(f"{struct.name}.{field.name}: a received struct with such a field")
    if isinstance(kind, m.Str):
        type_ = "string"
        value = f"Utf8.Of({raw}, raw.{types.naming.raw_field(member.length.name)})" if member.length else f"Utf8.Of({raw})"
    elif isinstance(kind, m.Ref) and kind.kind == "foreign":
        type_ = types.naming.type(kind.name)
        value = f"{type_}.Of({raw}, owner)"
    elif isinstance(kind, m.Ref) and kind.kind == "handle":
        type_ = types.naming.type(kind.name)
        value = f"new {type_}({raw}, owner)"
    else:
        type_, value = types.plain(field), types.from_c(field, raw)
    return {"name": name, "type": type_, "value": value, "doc": summary(" ".join([describe.noted(field), *facts(field)]), 8)}


# --- callbacks -------------------------------------------------------------------------------------------------------


def callbacks(types: Conversions) -> list[dict[str, Any]]:
    """Every callback: the delegate, and the C function that calls it."""
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
                "raw": naming.raw_callback(item.name),
                "closure": types.closure(m.Ref("callback", item.name)),
                "parameters": ", ".join(callback_parameters(naming, types.raw, item)),
                "arguments": ", ".join(types.closure_argument(p)[1] for p in shown),
                "returns": item.returns is not None,
            }
        )
    return found
