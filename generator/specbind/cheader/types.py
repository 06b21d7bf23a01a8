"""Types of clang's as types of the model, and as C text that is the same on every machine."""

from __future__ import annotations

from typing import Any, NamedTuple

from specbind.cheader import sizes
from specbind.spec import model as m

# typedefs and kinds of types -> the model's numbers
SCALARS = {
    "int8_t": "i8", "uint8_t": "u8", "int16_t": "i16", "uint16_t": "u16", "int32_t": "i32", "uint32_t": "u32",
    "int64_t": "i64", "uint64_t": "u64", "size_t": "size",
    "SCHAR": "i8", "UCHAR": "u8", "SHORT": "i16", "USHORT": "u16", "INT": "i32", "UINT": "u32",
    "LONGLONG": "i64", "ULONGLONG": "u64", "FLOAT": "f32", "DOUBLE": "f64",
}  # fmt: skip

# kinds of types whose spelling clang leaves to the language
SPELLINGS = {"BOOL": "bool", "CHAR_S": "char", "CHAR_U": "char", "VOID": "void"}

ARRAYS = frozenset({"CONSTANTARRAY", "INCOMPLETEARRAY", "VARIABLEARRAY"})
FUNCTIONS = frozenset({"FUNCTIONPROTO", "FUNCTIONNOPROTO"})

P = m.Passing


class Way(NamedTuple):
    """A parameter's type, how it crosses the boundary, and whether the callee may write to what it points to."""

    type: m.Type
    passing: m.Passing = P.VALUE
    direction: str = "in"


class Names:
    """What the library itself declares, by its name in C, as references of the model.

    `types`: typedefs and `struct x`, `enum x`. Opaque types that are not here are foreign; `foreign` collects them with the
    header that declares them.
    """

    def __init__(self) -> None:
        self.types: dict[str, m.Ref] = {}
        self.foreign: dict[str, Any] = {}


class Types:
    """Translates types, knowing what the library declares."""

    def __init__(self, names: Names) -> None:
        self.names = names

    # --- by value ---

    def value(self, kind: Any, *, fixed: bool = False) -> m.Type:
        """A field's or result's type. `fixed`: a struct is held by value, as a field, and not handed over."""
        kind, name = self.peel(kind)
        if name in self.names.types and kind.kind.name != "RECORD":
            return self.names.types[name]
        if name in SCALARS:
            return m.SCALARS[SCALARS[name]]
        if kind.kind.name == "POINTER":
            return self.pointer(kind)
        if kind.kind.name == "RECORD" and name in self.names.types and not fixed:
            return self.names.types[name]
        return sizes.c_type(self.text(kind), kind)

    def result(self, kind: Any) -> m.Type | None:
        return None if kind.get_canonical().kind.name == "VOID" else self.value(kind)

    def pointer(self, kind: Any) -> m.Type:
        """A pointer in a field or a result: a string, `void *`, or an object; any other as C spells it."""
        pointee = kind.get_pointee()
        _, name = self.peel(pointee)
        const = pointee.is_const_qualified()
        if const and name in ("CHAR_S", "CHAR_U"):
            return m.Str()
        if not const:
            if name == "VOID":
                return m.Pointer()
            known = self.opaque(pointee)
            if known is not None:
                return known
        return sizes.pointer_type(self.text(kind))

    def opaque(self, kind: Any) -> m.Ref | None:
        """A struct that is only declared, or another library's, as a handle or foreign type; None for anything else."""
        record, _ = self.peel(kind)
        if record.kind.name != "RECORD" or hidden_record(kind) is not None:
            return None
        name = self.text(record)
        known = self.names.types.get(name)
        if known is not None:
            return known if known.kind == "handle" else None
        tag = record.get_declaration().spelling
        if not name.startswith("struct ") or "(" in tag:
            return None
        self.names.foreign.setdefault(tag, record.get_declaration())
        return m.Ref("foreign", tag)

    # --- parameters ---

    def parameter(self, kind: Any) -> Way:
        """How a parameter of this type is passed; arrays and functions are pointers, as C has it."""
        inner, name = self.peel(kind)
        if inner.kind.name in ARRAYS:
            return self.address(inner.element_type)
        if inner.kind.name in FUNCTIONS:
            return Way(sizes.pointer_type(self.function_pointer(inner)))
        if inner.kind.name == "POINTER" and name not in self.names.types:
            return self.address(inner.get_pointee())
        return Way(self.value(kind))

    def address(self, pointee: Any) -> Way:
        """How a pointer to `pointee` is passed."""
        inner, name = self.peel(pointee)
        const = pointee.is_const_qualified()
        direction = "in" if const else "inout"
        if name == "VOID":
            return Way(m.Pointer(), P.VALUE, direction)
        if const and name in ("CHAR_S", "CHAR_U"):
            return Way(m.Str())
        if inner.kind.name == "POINTER":
            return self.address_of_pointer(inner, const)
        if inner.kind.name == "RECORD":
            known = self.names.types.get(self.text(inner))
            if known is not None and known.kind == "struct":
                return Way(known, P.STRUCT_IN if const else P.STRUCT_INOUT, direction)
            if (object_ := self.opaque(pointee)) is not None:
                return Way(object_, P.VALUE, direction)
        elif inner.kind.name not in ARRAYS | FUNCTIONS:
            return Way(self.value(pointee), P.ARRAY_IN if const else P.SCALAR_OUT, direction)
        return Way(sizes.pointer_type(self.text_of_pointer(pointee)))

    def address_of_pointer(self, kind: Any, const: bool) -> Way:
        """`T **`: an object that comes out, the address of data, or a pointer as C spells it."""
        pointee = kind.get_pointee()
        _, name = self.peel(pointee)
        if not const and pointee.is_const_qualified() and (name in SCALARS or name in self.names.types):
            return Way(self.value(pointee), P.ADDRESS_OUT, "out")
        if not const and not pointee.is_const_qualified():
            object_ = self.opaque(pointee)
            if object_ is not None:
                return Way(object_, P.OBJECT_OUT, "out")
        return Way(sizes.pointer_type(self.text_of_pointer(kind)))

    # --- text ---

    def peel(self, kind: Any) -> tuple[Any, str]:
        """A type without typedefs that mean nothing here, and the name by which it is known: typedef, `struct x`, or kind."""
        while True:
            name = kind.kind.name
            if name == "ELABORATED":
                kind = kind.get_named_type()
            elif name == "TYPEDEF":
                spelling = kind.get_declaration().spelling
                if spelling in self.names.types or spelling in sizes.KNOWN:
                    return kind, spelling
                kind = kind.get_declaration().underlying_typedef_type
            elif name in ("ENUM", "RECORD"):
                return kind, self.text(kind)
            elif name in sizes.KNOWN or name in SPELLINGS or name.endswith("ARRAY") or kind.get_canonical().kind == kind.kind:
                return kind, name
            else:
                kind = kind.get_canonical()

    def text(self, kind: Any) -> str:
        """C text of a type, without the platform's own typedefs: `int64_t`, never `long`."""
        const = "const " if kind.is_const_qualified() and kind.get_canonical().kind.name != "POINTER" else ""
        if (hidden := hidden_record(kind)) is not None:
            return const + hidden
        if kind.kind.name in ("ENUM", "RECORD"):
            return const + self.tagged(kind)
        inner, name = self.peel(kind)
        if inner.kind.name == "POINTER":
            return self.text_of_pointer(inner.get_pointee())
        if inner.kind.name == "CONSTANTARRAY":
            element, lengths = inner, ""
            while element.kind.name == "CONSTANTARRAY":
                lengths += f"[{element.element_count}]"
                element, _ = self.peel(element.element_type)
            return f"{const}{self.text(element)}{lengths}"
        if inner.kind.name in ("INCOMPLETEARRAY", "VARIABLEARRAY"):
            return f"{const}{self.text(inner.element_type)}[]"
        if inner.kind.name in ("ENUM", "RECORD"):
            return const + self.tagged(inner)
        if inner.kind.name == "TYPEDEF":
            return const + name
        if name in SPELLINGS:
            return const + SPELLINGS[name]
        return const + str(inner.spelling).removeprefix("const ")

    def text_of_pointer(self, pointee: Any) -> str:
        """`T *` for the type `T`."""
        inner, _ = self.peel(pointee)
        if inner.kind.name in FUNCTIONS:
            return self.function_pointer(inner)
        text = self.text(pointee)
        if pointee.get_canonical().kind.name == "POINTER" and pointee.is_const_qualified():
            text += " const"
        return f"{text}*" if text.endswith("*") else f"{text} *"

    def function_pointer(self, kind: Any) -> str:
        if kind.kind.name == "FUNCTIONNOPROTO":
            return f"{self.text(kind.get_result())} (*)()"
        arguments = [self.argument(each) for each in kind.argument_types()] + (["..."] if kind.is_function_variadic() else [])
        return f"{self.text(kind.get_result())} (*)({', '.join(arguments) or 'void'})"

    def argument(self, kind: Any) -> str:
        """Text of a parameter's type, which is a pointer where an array or a function is written."""
        inner, _ = self.peel(kind)
        if inner.kind.name in ARRAYS:
            return self.text_of_pointer(inner.element_type)
        return self.function_pointer(inner) if inner.kind.name in FUNCTIONS else self.text(kind)

    def tagged(self, kind: Any) -> str:
        """`struct x`, or for one without a name its fields: `union { int64_t i; double d; }`."""
        declared = kind.get_declaration()
        word = {"UNION_DECL": "union", "ENUM_DECL": "enum"}.get(declared.kind.name, "struct")
        if "(" not in declared.spelling and declared.spelling:
            return f"{word} {declared.spelling}"
        if word == "enum":
            return "enum { " + ", ".join(each.spelling for each in declared.get_children()) + " }"
        return f"{word} {{ " + " ".join(f"{self.text(f.type)} {field_name(f)};" for f in kind.get_fields()) + " }"


def hidden_record(kind: Any) -> str | None:
    """The typedef of a struct whose tag belongs to the compiler, such as FILE."""
    while kind.kind.name == "ELABORATED":
        kind = kind.get_named_type()
    if kind.kind.name != "TYPEDEF" or kind.get_canonical().kind.name != "RECORD":
        return None
    return kind.get_declaration().spelling if kind.get_canonical().get_declaration().spelling.startswith("_") else None


def field_name(field: Any) -> str:
    """A field's name; of a struct or union without one, the names of what is in it."""
    if "(" not in field.spelling and field.spelling:
        return str(field.spelling)
    return "/".join(field_name(each) for each in field.type.get_fields())
