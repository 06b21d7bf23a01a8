"""C text of a spec's structs, written here anew so that the engine is not compared with the C back end's opinion."""

from __future__ import annotations

from pathlib import Path

from specbind.layout.engine import StructLayout
from specbind.spec import model as m

INCLUDE = Path(__file__).parent / "include"

C_TYPES = {
    "i8": "int8_t", "u8": "uint8_t", "i16": "int16_t", "u16": "uint16_t", "i32": "int32_t", "u32": "uint32_t",
    "i64": "int64_t", "u64": "uint64_t", "f32": "float", "f64": "double", "size": "size_t",
}  # fmt: skip


def c_type(field: m.Field) -> str:
    """A type of the same size and alignment as the field's."""
    if field.array is not None:
        return "const void *"
    if isinstance(field.type, m.Scalar):
        return C_TYPES[field.type.name]
    if isinstance(field.type, m.Ref) and field.type.kind == "enum":
        return "int32_t"
    if isinstance(field.type, m.Ref) and field.type.kind == "callback":
        return "callback"
    return "const char *" if isinstance(field.type, m.Str) else "void *"


def declarations(structs: tuple[m.Struct, ...]) -> str:
    """A C file that declares the structs."""
    lines = ["#include <stddef.h>", "#include <stdint.h>", "typedef int32_t (*callback)(void *);"]
    for struct in structs:
        lines += [f"struct {struct.name} {{", *(f"    {c_type(f)} {f.name};" for f in struct.fields), "};"]
    return "\n".join(lines) + "\n"


def assertions(layouts: dict[str, StructLayout]) -> str:
    """Static assertions that the compiler agrees with every number."""
    lines = []
    for name, layout in layouts.items():
        lines.append(f'_Static_assert(sizeof(struct {name}) == {layout.size}, "size of {name}");')
        lines.append(f'_Static_assert(_Alignof(struct {name}) == {layout.align}, "alignment of {name}");')
        for field in layout.fields:
            where = f"{name}.{field.name}"
            lines.append(f'_Static_assert(offsetof(struct {name}, {field.name}) == {field.offset}, "offset of {where}");')
            lines.append(f'_Static_assert(sizeof(((struct {name} *)0)->{field.name}) == {field.size}, "size of {where}");')
    return "\n".join(lines) + "\n"


def torture() -> tuple[m.Struct, ...]:
    """Structs with every type of field in every company, and with all the holes that the spec language refuses."""
    kinds: list[m.Type] = [*m.SCALARS.values(), m.Str(), m.Pointer(), m.Ref("enum", "e"), m.Ref("callback", "c")]
    kinds += [m.Ref("handle", "h"), m.Ref("foreign", "f"), m.Ref("struct", "s")]
    byte, structs = m.SCALARS["u8"], []
    for a, first in enumerate(kinds):
        fields = [m.Field("lead", byte, "", "0.1.0")]
        for b, second in enumerate(kinds):
            fields += [
                m.Field(f"x{b}", first, "", "0.1.0"),
                m.Field(f"b{b}", byte, "", "0.1.0"),
                m.Field(f"y{b}", second, "", "0.1.0"),
            ]
        fields += [m.Field("array", first, "", "0.1.0", array="x0"), m.Field("tail", byte, "", "0.1.0")]
        structs.append(m.Struct(f"t{a}", tuple(fields), "", "0.1.0", growable=False))
    return tuple(structs)


def spec_of(structs: tuple[m.Struct, ...]) -> m.Spec:
    """A spec that has nothing but these structs."""
    none = ()
    return m.Spec("t", "t_", "0.1.0", "", none, none, none, none, none, none, structs, none)
