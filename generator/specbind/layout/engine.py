"""Size, alignment and offset of every struct on a target, from the spec alone.

The rule is C's: each field stands at the next multiple of its alignment, the struct is aligned to its strictest
field, and its size is rounded up to that. No compiler is asked; the tests ask several whether the numbers are right.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from specbind.layout.targets import Target
from specbind.spec import model as m


class FieldLayout(NamedTuple):
    """Place of a field, in bytes."""

    name: str
    offset: int
    size: int
    align: int


class StructLayout(NamedTuple):
    """A struct on one target, in bytes; fields in the order of the spec."""

    name: str
    size: int
    align: int
    fields: tuple[FieldLayout, ...]

    def field(self, name: str) -> FieldLayout:
        return next(f for f in self.fields if f.name == name)


class Gap(NamedTuple):
    """Bytes that a compiler inserts after field `after`, before field `before` or, if that is None, before the end."""

    after: str
    before: str | None
    offset: int
    size: int


def compute(spec: m.Spec, target: Target) -> dict[str, StructLayout]:
    """Layout of every struct of `spec` on `target`, by the struct's name in the spec."""
    return {struct.name: layout(struct, target) for struct in spec.structs}


def layout(struct: m.Struct, target: Target) -> StructLayout:
    """Layout of one struct on `target`."""
    fields = []
    end, strictest = 0, 1
    for field in struct.fields:
        size, align = size_and_align(field, target)
        offset = round_up(end, align)
        fields.append(FieldLayout(field.name, offset, size, align))
        end, strictest = offset + size, max(strictest, align)
    return StructLayout(struct.name, round_up(end, strictest), strictest, tuple(fields))


def size_and_align(field: m.Field, target: Target) -> tuple[int, int]:
    """Bytes of a field and what its offset is a multiple of. Only scalars, enums and types of C are held by value."""
    kind = field.type
    if isinstance(kind, m.CType):
        return kind.sizes[target.name]
    if field.array is None and isinstance(kind, m.Ref) and kind.kind == "enum":
        return 4, 4  # an int32_t typedef
    if field.array is not None or not isinstance(kind, m.Scalar) or kind.bits == 0:
        return target.pointer, target.pointer
    size = kind.bits // 8
    if size == 8:
        return size, target.align_f64 if kind.floating else target.align_i64
    return size, size


def gaps(layout: StructLayout) -> Iterator[Gap]:
    """Implicit padding: between two fields, and between the last field and the end."""
    for field, following in pairwise((*layout.fields, None)):
        assert field is not None
        end = field.offset + field.size
        start = layout.size if following is None else following.offset
        if start > end:
            yield Gap(field.name, None if following is None else following.name, end, start - end)


def round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
