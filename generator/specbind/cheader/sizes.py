"""Size and alignment of C types on every target, from one parse on this machine.

libclang lays out for one target at a time, and a header that includes the system's headers can only be read for this
machine. What C leaves to the platform is little, so it is a table here, and everything else follows by C's own rules.
`reader` compares the result for this machine with clang's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from specbind.layout.engine import round_up
from specbind.layout.targets import TARGETS, Target
from specbind.spec.model import CType

Place = tuple[int, int]  # size and alignment in bytes


class Unsized(Exception):
    """A type whose layout does not follow from C's rules; the text says which and why."""


def windows(target: Target) -> bool:
    return target.name.endswith("windows")


def fixed(size: int) -> Callable[[Target], Place]:
    """A type of this size everywhere; only those of 8 bytes are aligned differently here and there."""
    return lambda target: (size, target.align_i64 if size == 8 else size)


def pointer(target: Target) -> Place:
    return target.pointer, target.pointer


def long(target: Target) -> Place:
    size = 4 if windows(target) else target.pointer
    return size, size


def wide_character(target: Target) -> Place:
    return (2, 2) if windows(target) else (4, 4)


def long_double(target: Target) -> Place:
    if windows(target) or target.name in ("armv7-linux", "aarch64-macos"):
        return 8, target.align_f64
    return (12, 4) if target.name == "i686-linux" else (16, 16)


# names of typedefs and of clang's kinds of types -> size and alignment; a typedef is looked up before what it stands for
KNOWN: dict[str, Callable[[Target], Place]] = {
    "int8_t": fixed(1), "uint8_t": fixed(1), "int16_t": fixed(2), "uint16_t": fixed(2),
    "int32_t": fixed(4), "uint32_t": fixed(4), "int64_t": fixed(8), "uint64_t": fixed(8),
    "size_t": pointer, "ssize_t": pointer, "ptrdiff_t": pointer, "intptr_t": pointer, "uintptr_t": pointer,
    "wchar_t": wide_character,
    "BOOL": fixed(1), "CHAR_S": fixed(1), "CHAR_U": fixed(1), "SCHAR": fixed(1), "UCHAR": fixed(1),
    "SHORT": fixed(2), "USHORT": fixed(2), "INT": fixed(4), "UINT": fixed(4), "LONG": long, "ULONG": long,
    "LONGLONG": fixed(8), "ULONGLONG": fixed(8), "FLOAT": fixed(4), "DOUBLE": lambda target: (8, target.align_f64),
    "LONGDOUBLE": long_double, "POINTER": pointer, "FUNCTIONPROTO": pointer, "FUNCTIONNOPROTO": pointer,
}  # fmt: skip


def c_type(name: str, kind: Any) -> CType:
    """A type of clang's with its sizes. Raises Unsized."""
    return CType("c", name, {target.name: place(kind, target) for target in TARGETS.values()})


def pointer_type(name: str) -> CType:
    """A pointer, by its name in C."""
    return CType("c", name, {target.name: pointer(target) for target in TARGETS.values()})


def place(kind: Any, target: Target) -> Place:
    """Size and alignment of one of clang's types."""
    while True:
        name = kind.kind.name
        if name == "TYPEDEF" and (declared := kind.get_declaration()).spelling not in KNOWN:
            kind = declared.underlying_typedef_type
        elif name == "ELABORATED":
            kind = kind.get_named_type()
        elif name not in KNOWN and name not in ("TYPEDEF", "CONSTANTARRAY", "ENUM", "RECORD"):
            canonical = kind.get_canonical()
            if canonical.kind == kind.kind:
                raise Unsized(f"{kind.spelling} is not a type with a size that C fixes")
            kind = canonical
        else:
            break
    if name == "TYPEDEF":
        return KNOWN[kind.get_declaration().spelling](target)
    if name in KNOWN:
        return KNOWN[name](target)
    if name == "CONSTANTARRAY":
        size, align = place(kind.element_type, target)
        return size * kind.element_count, align
    if name == "ENUM":
        return place(kind.get_declaration().enum_type, target)
    return record(kind, target)


def record(kind: Any, target: Target) -> Place:
    """Size and alignment of a struct or union, from its fields."""
    union = kind.get_declaration().kind.name == "UNION_DECL"
    end, widest, strictest = 0, 0, 1
    fields = list(kind.get_fields())
    if not fields:
        raise Unsized(f"{kind.spelling} has no fields that can be seen")
    for field in fields:
        if field.is_bitfield():
            raise Unsized(f"{kind.spelling} has bit-fields, which every compiler lays out in its own way")
        size, align = place(field.type, target)
        end = round_up(end, align) + size
        widest, strictest = max(widest, size), max(strictest, align)
    return round_up(widest if union else end, strictest), strictest
