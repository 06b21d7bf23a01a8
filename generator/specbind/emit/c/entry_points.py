"""Renders `entry_points.cpp`: what every call checks before it reaches the hand-written side.

Each parameter becomes a few lines of set-up and one argument; the template only places them.
"""

from __future__ import annotations

from typing import Any

from specbind.emit.c import literals
from specbind.emit.c.implementation import is_handle, is_released, is_whole
from specbind.emit.c.naming import CNaming
from specbind.spec import model as m

P = m.Passing


def entry_values(spec: m.Spec) -> dict[str, Any]:
    """Values for `entry_points.cpp.jinja`."""
    naming = CNaming(spec)
    return {
        "prefix": naming.prefix,
        "macro": naming.macro_prefix,
        "enums": [{"name": e.name, "values": [(v.value, v.name) for v in e.values]} for e in checked_enums(spec)],
        "structs": [struct_values(spec, naming, s) for s in spec.structs if s.growable],
        "validators": [v for s in spec.structs if (v := validator(spec, s))],
        "functions": [function_values(spec, naming, f) for f in spec.functions],
    }


def checked_enums(spec: m.Spec) -> list[m.Enum]:
    """Enums that come in as a value somewhere."""
    kinds = [f.type for s in spec.structs for f in s.fields] + [p.type for f in spec.functions for p in f.params]
    used = {kind.name for kind in kinds if isinstance(kind, m.Ref) and kind.kind == "enum"}
    return [e for e in spec.enums if e.name in used]


def struct_values(spec: m.Spec, naming: CNaming, struct: m.Struct) -> dict[str, Any]:
    """A growable struct: its size after each version, and where its defaults come from."""
    versions: list[str] = []
    for before, after in zip(struct.fields, struct.fields[1:], strict=False):
        if before.since != after.since:
            versions.append(f"offsetof(abi::{struct.name}, {after.name})")
    init = literals.string(naming.function(struct.init)) if struct.init else "nullptr"
    return {"name": struct.name, "sizes": [*versions, f"sizeof(abi::{struct.name})"], "init": init, "has_defaults": bool(struct.init)}


def validator(spec: m.Spec, struct: m.Struct) -> dict[str, Any] | None:
    """Checks of a struct that comes in; None if it has no rule."""
    lines = [line for f in struct.fields for line in field_checks(spec, struct, f)]
    return {"name": struct.name, "lines": lines} if lines else None


def field_checks(spec: m.Spec, struct: m.Struct, field: m.Field) -> list[str]:
    value, place = f"v.{field.name}", f'at.field("{field.name}")'
    if field.is_struct_size:
        return []
    if field.array:
        length = f"v.{field.array}"
        lines = [] if field.nullable else [f'check::array({value}, {length}, {place}, "{field.array}");']
        if isinstance(field.type, m.Str):
            lines = [f'check::array({value}, {length}, {place}, "{field.array}");']
            lines.append(f"check::strings({value}, (size_t) {length}, {place});")
        return lines
    if field.role == "sequence":
        return [f"check::sequence({value}, n_seq, {place});"]
    return value_checks(spec, field, value, place)


def value_checks(spec: m.Spec, item: m.Param | m.Field, value: str, place: str) -> list[str]:
    """Range, enum and NULL of one value."""
    kind = item.type
    if isinstance(kind, m.Scalar):
        return range_check(kind, item, value, place)
    if isinstance(kind, m.Ref) and kind.kind == "enum":
        check = "flags" if spec.enum(kind.name).flags else "known"
        return [f"check::{check}({value}, {kind.name}_values, {place});"]
    if item.nullable or isinstance(kind, m.Pointer):
        return []
    return [f"check::not_null({value}, {place});"]


def range_check(kind: m.Scalar, item: m.Param | m.Field, value: str, place: str) -> list[str]:
    def number(n: m.Number) -> str:
        return literals.literal(kind, n)

    if item.min is not None and item.max is not None:
        return [f"check::range({value}, {number(item.min)}, {number(item.max)}, {place});"]
    if item.min is not None:
        return [f"check::at_least({value}, {number(item.min)}, {place});"]
    if item.max is not None:
        return [f"check::at_most({value}, {number(item.max)}, {place});"]
    return []


# --- functions -------------------------------------------------------------------------------------------------------


def function_values(spec: m.Spec, naming: CNaming, function: m.Function) -> dict[str, Any]:
    params = ", ".join(f"{naming.parameter_type(p)} {p.name}" for p in function.params) or "void"
    handle = next((p for p in function.params if is_handle(p)), None)
    c_name = naming.function(function.name)
    values: dict[str, Any] = {
        "signature": f"{naming.return_type(function)} {c_name}({params})",
        "c_name": c_name,
        "kind": kind_of(spec, function),
        "params": [p.name for p in function.params],
    }
    if values["kind"] == "init":
        struct, size = function.params[0], function.params[1]
        values |= {"struct": ref(struct).name, "target": struct.name, "size": size.name}
    if values["kind"] in ("last_error", "release") and handle:
        values |= {"handle_type": ref(handle).name, "handle": handle.name}
    if values["kind"] == "release":
        values["impl"] = function.name
    if values["kind"] == "call":
        calls = [Call(spec, function, p) for p in function.params]
        # an output handle is NULL after every failure, that of another argument included
        lines = [line for c in sorted(calls, key=lambda c: c.param.passing is not P.OBJECT_OUT) for line in c.lines]
        values |= {
            "object": f"self_of<spb::{ref(handle).name}>({handle.name})" if handle else "nullptr",
            "handle": handle.name if handle else None,
            "handle_type": ref(handle).name if handle else None,
            "exclusive": handle is not None and function.threads == "one",
            "n_seq": "sequence_count(self)" if handle else "check::UNKNOWN",
            "uses_n_seq": any("n_seq" in line for line in lines),
            "lines": lines,
            "call": f"impl::{function.name}({', '.join(c.argument for c in calls)})",
            "delivered": [c.delivered for c in calls if c.delivered],
        }
    return values


def kind_of(spec: m.Spec, function: m.Function) -> str:
    """Which part of the template writes the body."""
    if any(p.passing is P.STRUCT_INIT for p in function.params):
        return "init"
    if any(function.name == h.last_error for h in spec.handles):
        return "last_error"
    if is_whole(spec, function):
        return function.name
    if any(is_released(p) for p in function.params):
        return "release"
    return "call"


def ref(item: m.Param | m.Field) -> m.Ref:
    """The type of an item that is known to be of the spec."""
    assert isinstance(item.type, m.Ref)
    return item.type


class Call:
    """One parameter of a checked call: lines before the call, the argument, and what is handed out after it."""

    def __init__(self, spec: m.Spec, function: m.Function, param: m.Param) -> None:
        self.spec, self.function, self.param = spec, function, param
        self.place = f'"{param.name}"'
        self.lines: list[str] = []
        self.argument = param.name
        self.delivered: str | None = None
        getattr(self, param.passing.value)()

    def has_rules(self, struct: str) -> bool:
        return validator(self.spec, self.spec.struct(struct)) is not None

    def value(self) -> None:
        param = self.param
        if is_handle(param):
            self.argument = "self"
        elif param.role == "sequence":
            check = "sequence_or_all" if param.all_sequences else "sequence"
            self.lines.append(f"check::{check}({param.name}, n_seq, {self.place});")
        else:
            self.lines += value_checks(self.spec, param, param.name, self.place)

    def struct_in(self) -> None:
        param, name = self.param, ref(self.param).name
        full = f"{param.name}_full"
        body = [f"{full} = check::full_copy({param.name}, {self.place});"] if param.nullable else []
        body += self.nested(name, full, param.name)
        if self.has_rules(name):
            body.append(f"validate({full}, {self.place}, n_seq);")
        if param.nullable:
            self.lines += [f"abi::{name} {full}{{}};", *self.nested_declarations(name, param.name), f"if ({param.name}) {{"]
            self.lines += [f"    {line}" for line in body] + ["}"]
            self.argument = f"{param.name} ? &{full} : nullptr"
        else:
            self.lines += [f"abi::{name} {full} = check::full_copy({param.name}, {self.place});"]
            self.lines += [*self.nested_declarations(name, param.name), *body]
            self.argument = full

    def nested_fields(self, struct: str) -> list[m.Field]:
        """Structs that a struct points to; they are copied and checked like the struct itself."""
        return [f for f in self.spec.struct(struct).fields if isinstance(f.type, m.Ref) and f.type.kind == "struct" and not f.array]

    def nested_declarations(self, struct: str, param: str) -> list[str]:
        return [f"abi::{ref(f).name} {param}_{f.name}{{}};" for f in self.nested_fields(struct)]

    def nested(self, struct: str, full: str, param: str) -> list[str]:
        lines = []
        for f in self.nested_fields(struct):
            copy, place = f"{param}_{f.name}", f'check::place("{param}").field("{f.name}")'
            lines += [f"if ({full}.{f.name}) {{", f"    {copy} = check::full_copy({full}.{f.name}, {place});"]
            if self.has_rules(ref(f).name):
                lines.append(f"    validate({copy}, {place}, n_seq);")
            lines += [f"    {full}.{f.name} = &{copy};", "}"]
        return lines

    def struct_out(self) -> None:
        param, struct = self.param, self.spec.struct(ref(self.param).name)
        holder = "out_struct" if struct.growable else "out_fixed"
        null = ", check::MAY_BE_NULL" if param.nullable else ""
        self.lines.append(f"check::{holder}<abi::{struct.name}> {param.name}_out({param.name}, {self.place}{null});")
        self.argument = self.delivered = f"{param.name}_out"
        self.argument += ".value"

    struct_inout = struct_out

    def array_in(self) -> None:
        param = self.param
        self.lines.append(f'check::array({param.name}, {param.array}, {self.place}, "{param.array}");')
        if isinstance(param.type, m.Ref) and param.type.kind == "struct" and self.has_rules(param.type.name):
            self.lines += [
                f"for (size_t i = 0; i < (size_t) {param.array}; ++i) {{",
                f"    validate({param.name}[i], check::place({self.place}).at(i), n_seq);",
                "}",
            ]

    def array_out(self) -> None:
        param = self.param
        self.lines.append(f'check::array({param.name}, {param.array}, {self.place}, "{param.array}");')

    def scalar_out(self) -> None:
        if not self.param.nullable:
            self.lines.append(f"check::not_null({self.param.name}, {self.place});")

    address_out = scalar_out

    def object_out(self) -> None:
        param = self.param
        kind = ref(param)
        if kind.kind == "foreign":
            made = opaque = kind.name
        else:
            made, opaque = f"spb::{kind.name}", f"abi::{kind.name}_handle"
        self.lines.append(f"check::out_object<{made}, {opaque}> {param.name}_out({param.name}, {self.place});")
        self.delivered = f"{param.name}_out"
        self.argument = f"&{param.name}_out.made"


