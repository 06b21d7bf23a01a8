"""The ABI as data: what a spec says, resolved, and nothing about any language.

`load` turns YAML into these frozen values once; the layout engine, the diff and every back end read them and never
the YAML. References are resolved: a type is an object, not a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum as PyEnum


@dataclass(frozen=True, slots=True)
class Span:
    """Place of a value in a YAML file; line and column count from 1."""

    file: str
    line: int
    column: int


NOWHERE = Span("", 0, 0)


# --- types -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number. `bits` is 0 for `size`, which is as wide as a pointer of the target."""

    name: str
    c_name: str
    bits: int
    signed: bool
    floating: bool = False


@dataclass(frozen=True, slots=True)
class Str:
    """`const char *`, UTF-8, NUL-terminated."""

    name: str = "str"


@dataclass(frozen=True, slots=True)
class Pointer:
    """`void *` that the library only carries, such as the user pointer of a callback."""

    name: str = "pointer"


@dataclass(frozen=True, slots=True)
class Ref:
    """A type of the spec by kind and name: resolve it with `Spec.enum`, `.struct`, `.handle`, `.foreign_type` or `.callback`."""

    kind: str  # enum | struct | handle | foreign | callback; c for a CType; unknown only while a spec is being checked
    name: str


@dataclass(frozen=True, slots=True)
class CType(Ref):
    """A C type that the spec language lacks, named as C spells it: `bool`, `char[128]`, `const float *`.

    Only imported headers have such types, and no back end is given one. `sizes`: target -> size and alignment in bytes.
    They follow from the name and from the structs in it, so two of the same name are the same type.
    """

    sizes: Mapping[str, tuple[int, int]] = field(compare=False, repr=False)


Type = Scalar | Str | Pointer | Ref

SCALARS: dict[str, Scalar] = {
    s.name: s
    for s in (
        Scalar("i8", "int8_t", 8, True),
        Scalar("u8", "uint8_t", 8, False),
        Scalar("i16", "int16_t", 16, True),
        Scalar("u16", "uint16_t", 16, False),
        Scalar("i32", "int32_t", 32, True),
        Scalar("u32", "uint32_t", 32, False),
        Scalar("i64", "int64_t", 64, True),
        Scalar("u64", "uint64_t", 64, False),
        Scalar("f32", "float", 32, True, True),
        Scalar("f64", "double", 64, True, True),
        Scalar("size", "size_t", 0, False),
    )
}


class Passing(PyEnum):
    """How a parameter crosses the boundary; decided once here, so that back ends only look it up."""

    VALUE = "value"  # a scalar, an enum, a string, a callback, a handle or an opaque pointer
    STRUCT_IN = "struct_in"  # const struct *
    STRUCT_OUT = "struct_out"  # struct *, the caller has set struct_size
    STRUCT_INOUT = "struct_inout"  # struct *, read and written
    STRUCT_INIT = "struct_init"  # struct *, to be filled with defaults; the caller's size is the next parameter
    ARRAY_IN = "array_in"  # const T *, its length is the parameter `array`
    ARRAY_OUT = "array_out"  # T *, its capacity is the parameter `array`, its count the parameter `count`
    SCALAR_OUT = "scalar_out"  # T *
    OBJECT_OUT = "object_out"  # handle ** or foreign **
    ADDRESS_OUT = "address_out"  # const T **: receives the address of borrowed data


# --- items -----------------------------------------------------------------------------------------------------------

Number = int | float


@dataclass(frozen=True, slots=True)
class Constant:
    """A number with a name, compiled into callers."""

    name: str
    type: Scalar
    value: Number
    doc: str
    span: Span = NOWHERE
    since: str = ""


@dataclass(frozen=True, slots=True)
class ForeignType:
    """An opaque type of another library. `header` is where it is declared, `release` that library's function that ends one."""

    name: str
    header: str
    doc: str
    release: str | None = None
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Handle:
    """An opaque object of ours. `c_name` is the struct's C name, `release` the function that ends it."""

    name: str
    c_name: str
    release: str
    threads: str  # one | any
    last_error: str | None
    doc: str
    span: Span = NOWHERE
    since: str = ""


@dataclass(frozen=True, slots=True)
class EnumValue:
    """A named value of an enum; the name is the part behind the enum's prefix."""

    name: str
    value: int
    doc: str
    since: str
    deprecated: str | None = None
    span: Span = NOWHERE
    deprecated_since: str | None = None


@dataclass(frozen=True, slots=True)
class Enum:
    """An `int32_t` typedef with named constants. `prefix` stands between the library's prefix and the value's name.

    `role` is `status` for the one enum of results. `flags` are combined bitwise.
    """

    name: str
    values: tuple[EnumValue, ...]
    doc: str
    since: str
    prefix: str
    flags: bool = False
    role: str | None = None
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Field:
    """A struct field. `array` names the field that holds its length (the C type is then a const pointer)."""

    name: str
    type: Type
    doc: str
    since: str
    default: Number | str | None = None
    min: Number | None = None
    max: Number | None = None
    unit: str | None = None
    array: str | None = None
    nullable: bool = False
    role: str | None = None
    lifetime: str | None = None
    deprecated: str | None = None
    span: Span = NOWHERE
    deprecated_since: str | None = None

    @property
    def is_struct_size(self) -> bool:
        return self.name == "struct_size"


@dataclass(frozen=True, slots=True)
class Struct:
    """`growable`: the first field is `struct_size` and fields may be appended. `init`: the function that fills defaults."""

    name: str
    fields: tuple[Field, ...]
    doc: str
    since: str
    growable: bool
    init: str | None = None
    deprecated: str | None = None
    span: Span = NOWHERE
    deprecated_since: str | None = None

    def field(self, name: str) -> Field:
        return next(f for f in self.fields if f.name == name)


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a function or callback.

    `array` names the parameter with the length (in) or capacity (out), `count` the one that receives the count.
    `role` tells parameters of one type apart, `which` those of one role; the role `sequence` is checked against the
    object's number of sequences, `all_sequences` also lets SEQ_ALL pass. `ownership` of pointers: borrowed, owned,
    transferred or None.
    """

    name: str
    type: Type
    passing: Passing
    doc: str
    direction: str = "in"  # in | out | inout | init
    nullable: bool = False
    default: Number | str | None = None
    min: Number | None = None
    max: Number | None = None
    unit: str | None = None
    array: str | None = None
    count: str | None = None
    role: str | None = None
    all_sequences: bool = False
    ownership: str | None = None
    lifetime: str | None = None
    span: Span = NOWHERE
    which: str | None = None


@dataclass(frozen=True, slots=True)
class Callback:
    """A function of the caller's. `thread` is where the library calls it, `lifetime` how long it must stay callable."""

    name: str
    params: tuple[Param, ...]
    returns: Type | None
    doc: str
    since: str
    thread: str  # caller | any
    lifetime: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Function:
    """`returns` None is void; the status enum is the rule. `raw`: no checks or barrier are generated around it.

    `results` are the positive statuses, `errors` the negative ones that it can return.
    """

    name: str
    group: str
    params: tuple[Param, ...]
    returns: Type | None
    doc: str
    since: str
    results: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    returns_lifetime: str | None = None
    threads: str = "one"
    raw: bool = False
    deprecated: str | None = None
    span: Span = NOWHERE
    deprecated_since: str | None = None

    def param(self, name: str) -> Param:
        return next(p for p in self.params if p.name == name)


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a round: which function is called, None for something that the caller does otherwise, and when or with what."""

    call: str | None
    doc: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Group:
    """A chapter of functions. `round` is the order in which a caller calls them."""

    name: str
    title: str
    doc: str
    span: Span = NOWHERE
    round: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Spec:
    """A whole ABI. `prefix` begins every function and type, its upper-case form every constant.

    `since` is that of items without their own. `terms` are names that docs may mention though nothing here declares them.
    """

    name: str
    prefix: str
    version: str
    doc: str
    groups: tuple[Group, ...]
    constants: tuple[Constant, ...]
    foreign: tuple[ForeignType, ...]
    handles: tuple[Handle, ...]
    enums: tuple[Enum, ...]
    callbacks: tuple[Callback, ...]
    structs: tuple[Struct, ...]
    functions: tuple[Function, ...]
    source: str = ""  # path of the YAML, for messages
    since: str = ""
    terms: tuple[str, ...] = ()
    _index: dict[tuple[str, str], object] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        for kind, items in (
            ("enum", self.enums),
            ("struct", self.structs),
            ("handle", self.handles),
            ("foreign", self.foreign),
            ("callback", self.callbacks),
            ("function", self.functions),
        ):
            for item in items:
                self._index[kind, item.name] = item

    def enum(self, name: str) -> Enum:
        return self._index["enum", name]  # type: ignore[return-value]

    def struct(self, name: str) -> Struct:
        return self._index["struct", name]  # type: ignore[return-value]

    def handle(self, name: str) -> Handle:
        return self._index["handle", name]  # type: ignore[return-value]

    def foreign_type(self, name: str) -> ForeignType:
        return self._index["foreign", name]  # type: ignore[return-value]

    def callback(self, name: str) -> Callback:
        return self._index["callback", name]  # type: ignore[return-value]

    def function(self, name: str) -> Function:
        return self._index["function", name]  # type: ignore[return-value]

    @property
    def status(self) -> Enum:
        """The enum of results."""
        return next(e for e in self.enums if e.role == "status")

    def functions_of(self, group: str) -> tuple[Function, ...]:
        return tuple(f for f in self.functions if f.group == group)
