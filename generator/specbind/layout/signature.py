"""What a signature means, as one stable line of text, and the hashes made from it.

A symbol's name says nothing about its parameters: a library whose function gained one still loads, and crashes. So
the library carries a hash of each signature and every binding compares it with its own. The text holds what both
sides must agree on and leaves out what either may change freely: names of parameters, documentation, the prefix.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from specbind.spec import model as m


def canonical(spec: m.Spec, item: m.Function | m.Callback) -> str:
    """The signature of a function or callback: `enum status(handle spec, i32 role=sequence, i32 array_out length=3 count=4)`.

    A parameter is its type, how it is passed unless by value, and then, where the spec says so: positions (from 0) of
    the parameters with its length and count, its role and which of that role it is, whether all sequences may be meant,
    whether NULL may be given, and who owns it. A callback stands as its own signature in braces, because its caller and
    callee must agree on that too.
    """
    positions = {param.name: index for index, param in enumerate(item.params)}

    def parameter(param: m.Param) -> str:
        words = [type_text(spec, param.type)]
        if param.passing is not m.Passing.VALUE:
            words.append(param.passing.value)
        if param.array is not None:
            words.append(f"length={positions[param.array]}")
        if param.count is not None:
            words.append(f"count={positions[param.count]}")
        if param.role is not None:
            words.append(f"role={param.role}")
        if param.which is not None:
            words.append(f"which={param.which}")
        if param.all_sequences:
            words.append("all_sequences")
        if param.nullable:
            words.append("nullable")
        if param.ownership is not None:
            words.append(param.ownership)
        return " ".join(words)

    returns = "void" if item.returns is None else type_text(spec, item.returns)
    return f"{returns}({', '.join(map(parameter, item.params))})"


def type_text(spec: m.Spec, kind: m.Type) -> str:
    """A type by its kind and its name in the spec."""
    if not isinstance(kind, m.Ref):
        return kind.name
    if kind.kind == "callback":
        return f"callback{{{canonical(spec, spec.callback(kind.name))}}}"
    return f"{kind.kind} {kind.name}"


def fnv1a64(text: str) -> int:
    """64-bit FNV-1a of the UTF-8 bytes of `text`."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def spec_hash(spec: m.Spec) -> str:
    """16 hexadecimal digits that change when the ABI changes: layouts, constants, signatures, defaults or ranges.

    Names, types and order of fields stand for the layout on every target. The order of items, documentation and the
    prefix do not matter.
    """
    return hashlib.sha256("\n".join(sorted(facts(spec))).encode()).hexdigest()[:16]


def facts(spec: m.Spec) -> Iterator[str]:
    """One line for each thing that two builds of one ABI must agree on."""
    for constant in spec.constants:
        yield f"constant {constant.name} {constant.type.name} {constant.value!r}"
    for enum in spec.enums:
        for value in enum.values:
            yield f"enum {enum.name} {value.name} {value.value}"
    for struct in spec.structs:
        yield f"struct {struct.name}{' growable' if struct.growable else ''}: " + "; ".join(
            field_text(spec, field) for field in struct.fields
        )
    for callback in spec.callbacks:
        yield f"callback {callback.name} {canonical(spec, callback)}"
    for handle in spec.handles:
        yield f"handle {handle.name} {handle.release}"
    for function in spec.functions:
        limits = [f"{index}:{values_text(param)}" for index, param in enumerate(function.params) if values_text(param)]
        yield " ".join([f"function {function.name} {canonical(spec, function)}", *limits])


def field_text(spec: m.Spec, field: m.Field) -> str:
    words = [field.name, type_text(spec, field.type)]
    if field.array is not None:
        words.append(f"array={field.array}")
    if field.nullable:
        words.append("nullable")
    if values := values_text(field):
        words.append(values)
    return " ".join(words)


def values_text(item: m.Field | m.Param) -> str:
    """Default and range, empty if there is neither."""
    named = (("default", item.default), ("min", item.min), ("max", item.max))
    return ",".join(f"{name}={value!r}" for name, value in named if value is not None)
