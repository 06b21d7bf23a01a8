"""What a function is to a caller of a language with slices, strings, results and objects.

C spreads one thing over several parameters: an array and its length, a buffer with capacity and count, a callback and
its user pointer. This module puts them together again, once for all languages: who is called on, what goes in, what
comes out, and which part of which of these each C parameter is. How a language spells it is the back end's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from specbind.spec import model as m


class Part(Enum):
    """What a C parameter carries of the thing it belongs to."""

    SELF = "self"  # the object that the function is called on
    VALUE = "value"  # the thing itself: a scalar, a string, a pointer to the data
    LENGTH = "length"  # of an array that goes in, or of borrowed data that comes out
    CAPACITY = "capacity"  # of a buffer
    COUNT = "count"  # of what a buffer received
    USER = "user"  # of a callback


@dataclass(frozen=True, slots=True)
class Input:
    """One thing that the caller gives."""

    param: m.Param
    length: m.Param | None = None
    user: m.Param | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """One thing that the caller receives."""

    param: m.Param
    capacity: m.Param | None = None
    count: m.Param | None = None
    length: m.Param | None = None


@dataclass(frozen=True, slots=True)
class Argument:
    """One C parameter in its place: which part of which thing it is. `owner` is None for the object itself."""

    param: m.Param
    part: Part
    owner: Input | Output | None


@dataclass(frozen=True, slots=True)
class Call:
    """A function seen from above the C boundary.

    `handle` is the object that it is called on, or that it makes if `constructs`. `fallible`: it returns the status.
    """

    function: m.Function
    handle: m.Handle | None
    constructs: bool
    receiver: m.Param | None
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    fallible: bool

    def arguments(self) -> Iterator[Argument]:
        """The C parameters in their order."""
        places: dict[str, Argument] = {}
        if self.receiver:
            places[self.receiver.name] = Argument(self.receiver, Part.SELF, None)
        for given in self.inputs:
            for part, param in ((Part.VALUE, given.param), (Part.LENGTH, given.length), (Part.USER, given.user)):
                if param is not None:
                    places[param.name] = Argument(param, part, given)
        for got in self.outputs:
            parts = ((Part.VALUE, got.param), (Part.CAPACITY, got.capacity), (Part.COUNT, got.count), (Part.LENGTH, got.length))
            for part, param in parts:
                if param is not None:
                    places[param.name] = Argument(param, part, got)
        return (places[p.name] for p in self.function.params)

    @property
    def sequence(self) -> m.Param | None:
        """The parameter that names the sequence this changes, so that an error can say how it was left."""
        return next((i.param for i in reversed(self.inputs) if i.param.role == "sequence"), None)


def call(spec: m.Spec, function: m.Function) -> Call:
    """The call behind a function."""
    parts = {name for p in function.params for name in (p.array, p.count) if name}
    receiver = next((p for p in function.params[:1] if is_object(p) and not p.nullable), None)
    inputs: list[Input] = []
    outputs: list[Output] = []
    for index, param in enumerate(function.params):
        if param is receiver or param.name in parts:
            continue
        following = function.params[index + 1] if index + 1 < len(function.params) else None
        match param.passing:
            case m.Passing.ARRAY_OUT:
                outputs.append(Output(param, named(function, param.array), named(function, param.count)))
            case m.Passing.ADDRESS_OUT:
                length = next((p for p in function.params if p.passing is m.Passing.SCALAR_OUT and p.role == "length"), None)
                outputs.append(Output(param, length=length))
                parts |= {length.name} if length else set()
            case m.Passing.SCALAR_OUT | m.Passing.OBJECT_OUT | m.Passing.STRUCT_OUT | m.Passing.STRUCT_INIT:
                outputs.append(Output(param))
            case m.Passing.ARRAY_IN:
                inputs.append(Input(param, length=named(function, param.array)))
            case _ if is_callback(param.type) and following is not None and isinstance(following.type, m.Pointer):
                inputs.append(Input(param, user=following))
                parts.add(following.name)
            case _:
                inputs.append(Input(param))
    made = next((o.param for o in outputs if o.param.passing is m.Passing.OBJECT_OUT and is_kind(o.param.type, "handle")), None)
    owner = made or receiver
    return Call(
        function=function,
        handle=spec.handle(owner.type.name) if owner is not None and isinstance(owner.type, m.Ref) else None,
        constructs=made is not None,
        receiver=receiver,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        fallible=function.returns == m.Ref("enum", spec.status.name),
    )


def named(function: m.Function, name: str | None) -> m.Param | None:
    return function.param(name) if name else None


def is_housekeeping(spec: m.Spec, function: m.Function) -> bool:
    """Whether a binding calls it on its own behalf: release, error text, defaults, the identity table."""
    return (
        any(function.name in (h.release, h.last_error) for h in spec.handles)
        or any(function.name == s.init for s in spec.structs)
        or any(p.passing is m.Passing.STRUCT_OUT and p.type == m.Ref("struct", "identity_entry") for p in function.params)
    )


# The spec that was asked about last, with its calls: every back end asks about the same one, several times.
_latest: list[tuple[m.Spec, list[Call]]] = []


def methods(spec: m.Spec, handle: m.Handle | None) -> list[Call]:
    """What is called on `handle`, its constructors included; with None, what belongs to no object."""
    if not _latest or _latest[0][0] is not spec:
        _latest[:] = [(spec, [call(spec, f) for f in spec.functions if not is_housekeeping(spec, f)])]
    return [c for c in _latest[0][1] if c.handle == handle]


def short_name(spec: m.Spec, function: m.Function, handle: m.Handle | None) -> str:
    """Name of a call among those of its object: `session_tokenize` -> `tokenize`, `get_logits` -> `logits`.

    A getter whose name without `get_` belongs to another function ends in what it gets: `get_draft` -> `draft_tokens`.
    """
    name = function.name
    if handle is not None:
        name = name.removeprefix(f"{handle.name}_")
    if not name.startswith("get_"):
        return name
    bare = name.removeprefix("get_")
    if any(f.name == bare for f in spec.functions):
        unit = next((p.unit for p in function.params if p.unit), "value")
        return f"{bare}_{unit}"
    return bare


# --- types -----------------------------------------------------------------------------------------------------------


def is_kind(kind: m.Type, name: str) -> bool:
    return isinstance(kind, m.Ref) and kind.kind == name


def is_callback(kind: m.Type) -> bool:
    return is_kind(kind, "callback")


# What the documentation of a callback says of an i32 that it returns. Languages have words of their own for it.
GO_ON = "returns 0 to go on, anything else to cancel"


def is_object(param: m.Param) -> bool:
    """Whether an object of ours comes in."""
    return param.passing is m.Passing.VALUE and is_kind(param.type, "handle")


def is_boolean(item: m.Param | m.Field) -> bool:
    """An integer that is 0 or 1 and means it."""
    return item.unit == "boolean" and isinstance(item.type, m.Scalar)


# --- structs ---------------------------------------------------------------------------------------------------------


def struct_name(kind: m.Type) -> str | None:
    return kind.name if isinstance(kind, m.Ref) and kind.kind == "struct" else None


def is_flat(struct: m.Struct) -> bool:
    """Whether a struct holds numbers only, so that no value of it can be dangerous."""
    return all(not f.array and (isinstance(f.type, m.Scalar) or is_kind(f.type, "enum")) for f in struct.fields)


def given_structs(spec: m.Spec) -> list[m.Struct]:
    """Structs that a caller fills, those inside them included, in the order of the spec."""
    incoming = (m.Passing.STRUCT_IN, m.Passing.ARRAY_IN)
    names = {struct_name(p.type) for f in spec.functions for p in f.params if p.passing in incoming}
    found: set[str] = set()
    while names:
        found |= {name for name in names if name}
        names = {struct_name(f.type) for name in found for f in spec.struct(name).fields} - found - {None}
    return [s for s in spec.structs if s.name in found]


def received_structs(spec: m.Spec) -> list[m.Struct]:
    """Structs that a caller is given, by a function or in a callback, in the order of the spec."""
    functions = (f for f in spec.functions if not is_housekeeping(spec, f))
    names = {struct_name(p.type) for f in functions for p in f.params if p.passing is m.Passing.STRUCT_OUT}
    names |= {struct_name(p.type) for c in spec.callbacks for p in c.params if p.passing is m.Passing.STRUCT_IN}
    return [s for s in spec.structs if s.name in names]


@dataclass(frozen=True, slots=True)
class Member:
    """A field as a caller sees it: an array or a text with the field of its length, a callback with its user pointer."""

    field: m.Field
    length: m.Field | None = None
    user: m.Field | None = None


def members(struct: m.Struct) -> list[Member]:
    """Fields that mean something above the C boundary: no `struct_size`, nothing reserved, no lengths and user pointers."""
    skip = {"struct_size", "reserved"} | {f.array for f in struct.fields if f.array}
    found: list[Member] = []
    for index, field in enumerate(struct.fields):
        if field.name in skip:
            continue
        following = struct.fields[index + 1] if index + 1 < len(struct.fields) else None
        if is_callback(field.type) and following is not None and isinstance(following.type, m.Pointer):
            found.append(Member(field, user=following))
            skip.add(following.name)
        elif isinstance(field.type, m.Str) and not field.array and following is not None and is_byte_count(following):
            found.append(Member(field, length=following))
            skip.add(following.name)
        else:
            found.append(Member(field, length=struct.field(field.array) if field.array else None))
    return found


def is_byte_count(field: m.Field) -> bool:
    """A size in bytes: behind a text, that text's length, which may then hold NULs."""
    return field.type == m.SCALARS["size"] and field.unit == "bytes"
