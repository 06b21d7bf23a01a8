"""Structs, enums and callbacks of the safe crate."""

from __future__ import annotations

from typing import Any

from specbind.emit import calls, describe
from specbind.emit.core import NotExpressible
from specbind.emit.rust.convert import SIZE, Conversions
from specbind.emit.rust.text import doc, let, listing, literal, string
from specbind.spec import model as m

# --- enums -----------------------------------------------------------------------------------------------------------


def enums(types: Conversions) -> list[dict[str, Any]]:
    """Enums that the safe crate shows: all but the status, which is `Outcome` and `Error`, and what only housekeeping uses."""
    spec, naming = types.spec, types.naming
    shown = {f.type for s in (*calls.given_structs(spec), *calls.received_structs(spec)) for f in s.fields}
    shown |= {p.type for f in spec.functions if not calls.is_housekeeping(spec, f) for p in f.params}
    shown |= {p.type for c in spec.callbacks for p in c.params}
    return [
        {
            "name": naming.type(e.name),
            "doc": doc(types.prose(e.doc)),
            "values": [
                {"name": naming.variant(v), "value": v.value, "constant": naming.c.enum_value(e, v), "doc": doc(types.prose(v.doc), 4)}
                for v in e.values
            ],
        }
        for e in spec.enums
        if e.role != "status" and m.Ref("enum", e.name) in shown
    ]


# --- structs that the caller fills -----------------------------------------------------------------------------------


def given(types: Conversions, struct: m.Struct) -> dict[str, Any]:
    """A struct with its defaults, setters and the way to C's struct."""
    owns = types.owns(struct)
    fields = [given_field(types, struct, member, owns) for member in calls.members(struct)]
    counts = list(dict.fromkeys(member.length.name for member in calls.members(struct) if member.length))
    statements = [line for f in fields for line in f["before"]] + [line for name in counts for line in length_lines(struct, name)]
    values = [pair for f in fields for pair in f["raw"]] + counts
    named = {v.split(":")[0] for v in values}
    rest = [] if named >= {types.naming.identifier(f.name) for f in struct.fields} else ["..Default::default()"]
    required = [f for f in fields if f["required"]]
    return {
        "name": types.naming.type(struct.name),
        "sys": types.sys(struct.name),
        "lifetime": "" if owns else "<'a>",
        "owns": owns,
        "doc": doc(types.prose(struct.doc)),
        "fields": fields,
        "new": listing("pub fn new(", [f"{f['name']}: {f['type']}" for f in required], ") -> Self {", 4),
        "new_value": literal("Self", [f["name"] if f["required"] else f"{f['name']}: None" for f in fields], "", 8),
        "default": literal("Self", [f"{f['name']}: {f['default']}" for f in fields], "", 8),
        "required": [f["text"] for f in required],
        "setters": [f for f in fields if not f["required"]],
        "to_raw": [*statements, *literal(f"Ok({types.sys(struct.name)}", values + rest, ")", 8)],
        "arena": any("arena" in s for s in statements),
        "comparable": not any(m_.user for m_ in calls.members(struct)),
    }


def given_field(types: Conversions, struct: m.Struct, member: calls.Member, owns: bool) -> dict[str, Any]:
    field, kind = member.field, member.field.type
    name = types.naming.identifier(field.name)
    me = f"self.{name}"
    before: list[str] = []
    raw = [f"{name}: {me}"]
    takes, setter, default = "", "value", "None"
    required = not owns and not field.nullable
    if field.array:
        if isinstance(kind, m.Str):
            type_, default, raw = "Vec<String>", "Vec::new()", [name]
            before = let(name, f"arena.texts({string(field.name)}, &{me})?", 8)
            takes, setter = "impl IntoIterator<Item = impl Into<String>>", "value.into_iter().map(Into::into).collect()"
        elif isinstance(kind, m.Scalar) and not owns:
            slice_ = f"&'a [{types.raw.value(kind)}]"
            type_ = slice_ if required else f"Option<{slice_}>"
            raw = [f"{name}: {me}.as_ptr()" if required else f"{name}: {me}.map_or(ptr::null(), <[_]>::as_ptr)"]
            takes, setter = slice_, "Some(value)"
        else:
            raise NotExpressible(f"{struct.name}.{field.name}: an array of {kind.name}")
    elif isinstance(kind, m.Str):
        if owns:
            type_, setter, default = ("Option<String>", "Some(value.into())", "None") if field.nullable else (
                "String", "value.into()", f"{string(str(field.default or ''))}.to_owned()"
            )  # fmt: skip
            takes = "impl Into<String>"
            text = f"optional_text({string(field.name)}, {me}.as_deref())" if field.nullable else f"text({string(field.name)}, &{me})"
        else:
            type_, takes, setter = ("Option<&'a str>", "&'a str", "Some(value)") if field.nullable else ("&'a str", "&'a str", "value")
            text = f"optional_text({string(field.name)}, {me})" if field.nullable else f"text({string(field.name)}, {me})"
        before, raw = let(name, f"arena.{text}?", 8), [name]
    elif member.user:
        wrapper = types.naming.type(kind.name)
        type_, takes, setter = f"Option<{wrapper}>", f"impl {callback_bound(types, kind)} + 'static", f"Some({wrapper}::new(value))"
        user = types.naming.identifier(member.user.name)
        before = let(f"({name}, {user})", f"callbacks::lend_{kind.name}({me}.as_ref())", 8)
        raw = [name, user]
    elif isinstance(kind, m.Ref) and kind.kind == "struct":
        if not (field.nullable and owns):
            raise NotExpressible(f"{struct.name}.{field.name}: a struct that may not be NULL")
        inner = types.naming.type(kind.name)
        type_, takes, setter = f"Option<{inner}>", inner, "Some(value)"
        before = [*let(name, f"{me}.as_ref().map(|it| it.to_raw(arena)).transpose()?", 8), *let(name, f"arena.keep({name})", 8)]
        raw = [name]
    else:
        type_ = takes = types.plain(field)
        if type_ != types.raw.value(kind):
            raw = [f"{name}: i32::from({me})"]
        default = default_value(types, field)
    text = types.prose(" ".join([field.doc, *facts(field)]), own(struct)).strip()
    return {
        "name": name, "type": type_, "takes": takes or type_, "setter": setter, "default": default, "before": before, "raw": raw,
        "required": required, "doc": doc(text, 4), "text": f"- `{field.name}`: {types.prose(field.doc, own(struct))}",
        "head": listing(f"pub fn {name}(", ["mut self", f"value: {takes or type_}"], ") -> Self {", 4),
    }  # fmt: skip


def own(struct: m.Struct) -> frozenset[str]:
    return frozenset(f.name for f in struct.fields)


def default_value(types: Conversions, field: m.Field) -> str:
    """The default of a number, truth value or enum."""
    value = field.default if field.default is not None else 0
    kind = field.type
    if calls.is_boolean(field):
        return "true" if value else "false"
    if isinstance(kind, m.Ref):
        return f"{types.naming.type(kind.name)}::from({value})"
    if isinstance(kind, m.Scalar) and kind.floating:
        return repr(float(value))
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


def length_lines(struct: m.Struct, length: str) -> list[str]:
    """Statements that make `length` the common length of the arrays that share it."""
    arrays = [f for f in struct.fields if f.array == length]
    if len(arrays) == 1 and (isinstance(arrays[0].type, m.Str) or not arrays[0].nullable):
        lines = let(length, f"self.{arrays[0].name}.len()", 8)
    else:
        pairs = [(f.name, f"self.{f.name}.map(<[_]>::len)" if f.nullable else f"Some(self.{f.name}.len())") for f in arrays]
        lines = listing(f"let {length} = convert::common_length(&[", [f"({string(n)}, {v})" for n, v in pairs], "])?;", 8)
    if struct.field(length).type != SIZE:
        lines += let(length, f"convert::length({string(length)}, {length})?", 8)
    return lines


# --- structs that the library fills ----------------------------------------------------------------------------------


def received(types: Conversions, struct: m.Struct) -> dict[str, Any]:
    """A struct as a value, and the way from C's struct."""
    bound = types.is_bound(struct)
    names = {f.name for f in struct.fields}
    fields = [received_field(types, struct, member) for member in calls.members(struct)]
    return {
        "name": types.naming.type(struct.name),
        "sys": types.sys(struct.name),
        "lifetime": "<'a>" if bound else "",
        "doc": doc(types.prose(struct.doc)),
        "fields": fields,
        "from_raw": literal("Self", [f"{f['name']}: {f['value']}" for f in fields], "", 8),
        "rate": {"n_drafted", "n_accepted"} <= names,
    }


def received_field(types: Conversions, struct: m.Struct, member: calls.Member) -> dict[str, Any]:
    field, kind = member.field, member.field.type
    name = types.naming.identifier(field.name)
    raw = f"raw.{name}"
    if field.array or member.user or calls.is_kind(kind, "struct"):
        raise NotExpressible(f"{struct.name}.{field.name}: a received struct with such a field")
    if isinstance(kind, m.Str):
        type_ = "String"
        value = f"unsafe {{ convert::text_of({raw}, raw.{member.length.name}) }}" if member.length else f"unsafe {{ convert::text({raw}) }}"
    elif isinstance(kind, m.Ref) and kind.kind == "foreign":
        inner = types.naming.type(kind.name)
        made = f"unsafe {{ {inner}::from_raw({raw}) }}"
        type_, value = f"Option<{inner}<'a>>", made
        if not field.nullable:
            type_, value = f"{inner}<'a>", made + '.expect("the library gives one")'
    elif isinstance(kind, m.Ref) and kind.kind == "handle":
        inner = types.naming.type(kind.name)
        type_, value = f"{inner}<'a>", f"unsafe {{ {inner}::borrow({raw}, library) }}"
    else:
        type_ = types.plain(field)
        value = raw if type_ == types.raw.value(kind) else f"{raw} != 0" if type_ == "bool" else f"{raw}.into()"
    return {"name": name, "type": type_, "value": value, "doc": doc(types.prose(" ".join([field.doc, *facts(field)]), own(struct)), 4)}


# --- callbacks -------------------------------------------------------------------------------------------------------


def callback_bound(types: Conversions, kind: m.Type) -> str:
    """`Fn(f32) -> ControlFlow<()> + Send + Sync`: what the caller may give."""
    item = types.spec.callback(kind.name)
    arguments = ", ".join(callback_argument(types, p)[0] for p in item.params if not isinstance(p.type, m.Pointer))
    return f"Fn({arguments}){callback_result(item)} + Send + Sync"


def callback_result(item: m.Callback) -> str:
    return "" if item.returns is None else " -> ControlFlow<()>"


def callback_argument(types: Conversions, param: m.Param) -> tuple[str, str]:
    """Type and expression of a callback's argument on the Rust side."""
    name, kind = types.naming.identifier(param.name), param.type
    if isinstance(kind, m.Str):
        return "&str", f"&unsafe {{ convert::text({name}) }}"
    if param.passing is m.Passing.STRUCT_IN:
        inner = types.naming.type(kind.name)
        return f"&{inner}", f"&unsafe {{ {inner}::from_raw(&*{name}) }}"
    type_ = types.plain(param)
    return type_, name if type_ == types.raw.value(kind) else f"{type_}::from({name})"


def callbacks(types: Conversions) -> list[dict[str, Any]]:
    """Every callback: its Rust type, its C function, and how it reaches the library.

    `use` is `lent` in a struct's field, `kept` by a function for longer than its call, `called` during one call only.
    """
    spec, naming = types.spec, types.naming
    in_structs = {f.type for s in calls.given_structs(spec) for f in s.fields}
    found = []
    for item in spec.callbacks:
        if item.returns not in (None, m.SCALARS["i32"]):
            raise NotExpressible(f"{item.name}: a callback returns nothing, or i32 with 0 for going on")
        shown = [p for p in item.params if not isinstance(p.type, m.Pointer)]
        if len(shown) + 1 != len(item.params) or not isinstance(item.params[-1].type, m.Pointer):
            raise NotExpressible(f"{item.name}: a callback's last parameter is the user pointer, and no other is one")
        arguments = [callback_argument(types, p) for p in shown]
        found.append(
            {
                "name": naming.type(item.name), "function": item.name, "alias": f"sys::{naming.c.callback(item.name)}",
                "doc": doc(types.prose(item.doc.replace(calls.GO_ON, "returns whether to go on"))),
                "use": "lent" if m.Ref("callback", item.name) in in_structs else "kept" if item.thread == "any" else "called",
                "arguments": ", ".join(a[0] for a in arguments), "result": callback_result(item),
                "head": listing(
                    f'pub(crate) unsafe extern "C" fn {item.name}(', sys_parameters(types, item),
                    f"){'' if item.returns is None else ' -> i32'} {{", 0,
                ),
                "values": ", ".join(a[1] for a in arguments), "returns": item.returns is not None,
                "unsafe": any("unsafe" in a[1] for a in arguments),
            }
        )  # fmt: skip
    return found


def sys_parameters(types: Conversions, item: m.Callback) -> list[str]:
    """Parameters of the C function of a callback, with the raw types in their crate."""
    def qualified(text: str) -> str:
        head, _, last = text.rpartition(" ")
        own = last.startswith(types.naming.c.prefix)
        return f"{head} sys::{last}".strip() if own else text

    return [f"{types.naming.identifier(p.name)}: {qualified(types.raw.parameter(p))}" for p in item.params]
