"""Declarations of a parsed header as items of the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from specbind.cheader import Imported, LeftOut, comments, macros, sizes
from specbind.cheader.names import Prefix, common_prefix, releases, value_prefix
from specbind.cheader.types import Names, Types, field_name
from specbind.cheader.unit import Unit
from specbind.layout import engine
from specbind.layout.targets import host
from specbind.spec import model as m

UNKNOWN = "0.0.0"  # version of a library whose header states none


class Reader:
    """Collects the library's own declarations, then translates them, for a type may be used before it is complete."""

    def __init__(self, unit: Unit, prefix: str | None) -> None:
        self.unit = unit
        self.main = str(unit.path.resolve())
        found = [cursor for cursor in unit.cursor.get_children() if self.file(cursor) in unit.own]
        functions = [c.spelling for c in found if c.kind.name == "FUNCTION_DECL" and self.file(c) == self.main]
        self.prefix = Prefix(common_prefix(functions) if prefix is None else prefix)
        self.cursors = [c for c in found if self.file(c) == self.main or self.prefix.begins(c.spelling) or is_nameless(c)]
        self.names = Names()
        self.types = Types(self.names)
        self.left_out: list[LeftOut] = []

    def file(self, cursor: Any) -> str:
        return cursor.location.file.name if cursor.location.file else ""

    def span(self, cursor: Any) -> m.Span:
        at = cursor.location
        return m.Span(self.unit.own.get(self.file(cursor), self.file(cursor)), at.line, at.column)

    def imported(self) -> Imported:
        enums, records, callbacks = self.collect()
        constants = macros.constants(self.unit, self.prefix, self.main)
        constants += [c for cursor, name in enums if name is None for c in self.loose_values(cursor)]
        called_back = tuple(self.callbacks(callbacks))
        functions = tuple(self.functions())
        structs = tuple(self.structs(records))
        version, constants = macros.version(constants)
        spec = m.Spec(
            name=self.prefix.prefix.rstrip("_") or self.unit.path.stem,
            prefix=self.prefix.prefix,
            version=version or UNKNOWN,
            doc="",
            groups=(),
            constants=tuple(constants),
            handles=tuple(self.handles(records, functions)),
            enums=tuple(self.enum(cursor, name) for cursor, name in enums if name is not None),
            callbacks=called_back,
            structs=structs,
            functions=functions,
            foreign=tuple(self.foreign()),
            source=str(self.unit.path),
        )
        return Imported(spec, tuple(self.left_out))

    # --- what there is ---

    def collect(self) -> tuple[list[tuple[Any, str | None]], dict[str, Any], list[Any]]:
        """Enums with their names (None: its values are constants), structs by tag, callback typedefs; and names them all."""
        enums: list[tuple[Any, str | None]] = []
        records: dict[str, Any] = {}
        callbacks = []
        before: Any = None
        for cursor in self.declared():
            kind, name = cursor.kind.name, cursor.spelling
            if kind == "ENUM_DECL" and cursor.is_definition():
                enums.append((cursor, self.enum_name(cursor, before)))
            elif kind == "STRUCT_DECL" and not is_nameless(cursor) and (name not in records or cursor.is_definition()):
                records[name] = cursor
            elif kind == "TYPEDEF_DECL":
                pointee = cursor.underlying_typedef_type.get_canonical().get_pointee()
                if pointee.kind.name == "FUNCTIONPROTO":
                    callbacks.append(cursor)
                    self.names.types[name] = m.Ref("callback", self.prefix.strip(name))
            before = cursor
        for name, cursor in records.items():
            if cursor.is_definition():
                self.names.types[f"struct {name}"] = m.Ref("struct", self.prefix.strip(name))
            elif self.prefix.begins(name):
                self.names.types[f"struct {name}"] = m.Ref("handle", self.prefix.strip(name))
        return enums, records, callbacks

    def declared(self) -> Iterator[Any]:
        """The library's declarations, and the enums inside its structs, which C puts beside them."""
        for cursor in self.cursors:
            if cursor.kind.name == "STRUCT_DECL":
                yield from (each for each in cursor.get_children() if each.kind.name == "ENUM_DECL")
            yield cursor

    def enum_name(self, cursor: Any, before: Any) -> str | None:
        """The enum's name in the model; one without a name belongs to the typedef of an int in front of it, if there is one."""
        if not is_nameless(cursor):
            name = self.prefix.strip(cursor.spelling)
            self.names.types[f"enum {cursor.spelling}"] = m.Ref("enum", name)
            return name
        if before is None or before.kind.name != "TYPEDEF_DECL":
            return None
        if before.underlying_typedef_type.get_canonical().kind.name != "INT":
            return None
        name = self.prefix.strip(before.spelling)
        self.names.types[before.spelling] = m.Ref("enum", name)
        return name

    # --- items ---

    def enum(self, cursor: Any, name: str) -> m.Enum:
        members = [each for each in cursor.get_children() if each.kind.name == "ENUM_CONSTANT_DECL"]
        stripped = [self.prefix.strip(each.spelling) for each in members]
        prefix = value_prefix(name, stripped)
        values = tuple(
            m.EnumValue(short.removeprefix(prefix), each.enum_value, comments.text(each), "", *self.aged(each))
            for each, short in zip(members, stripped, strict=True)
        )
        return m.Enum(name, values, comments.text(cursor), "", prefix.lower(), span=self.span(cursor))

    def aged(self, cursor: Any) -> tuple[str | None, m.Span]:
        return comments.deprecation(cursor), self.span(cursor)

    def loose_values(self, cursor: Any) -> Iterator[m.Constant]:
        """Values of an enum without a name, as the constants that they are used as."""
        for each in cursor.get_children():
            if each.kind.name == "ENUM_CONSTANT_DECL":
                kind = m.SCALARS["i32" if -(2**31) <= each.enum_value < 2**31 else "i64"]
                yield m.Constant(self.prefix.strip(each.spelling), kind, each.enum_value, comments.text(each), self.span(each))

    def structs(self, records: dict[str, Any]) -> Iterator[m.Struct]:
        """Structs whose layout follows from their fields: clang and the layout engine agree about them on this machine."""
        target = host()
        for tag, cursor in records.items():
            if not cursor.is_definition():
                continue
            try:
                struct = self.struct(cursor)
            except sizes.Unsized as error:
                self.left_out.append(LeftOut(f"struct {tag}", str(error)))
                continue
            if target is not None and not agrees(engine.layout(struct, target), cursor.type):
                reason = "its layout is not that of its fields: it is packed, or aligned by an attribute"
                self.left_out.append(LeftOut(f"struct {tag}", reason))
                continue
            yield struct

    def struct(self, cursor: Any) -> m.Struct:
        fields = []
        for each in cursor.type.get_fields():
            if each.is_bitfield():
                raise sizes.Unsized("it has bit-fields, which every compiler lays out in its own way")
            deprecated, span = self.aged(each)
            kind = self.types.value(each.type, fixed=True)
            fields.append(m.Field(field_name(each), kind, comments.text(each), "", deprecated=deprecated, span=span))
        if not fields:
            raise sizes.Unsized("it has no fields, whose size C and C++ count differently")
        growable = fields[0].is_struct_size and fields[0].type == m.SCALARS["u32"]
        name = self.prefix.strip(cursor.spelling)
        deprecated, span = self.aged(cursor)
        return m.Struct(name, tuple(fields), comments.text(cursor), "", growable, deprecated=deprecated, span=span)

    def callbacks(self, cursors: list[Any]) -> Iterator[m.Callback]:
        """Callbacks that can be described; what uses one that cannot has it as C spells it."""
        for cursor in cursors:
            try:
                yield self.callback(cursor)
            except sizes.Unsized as error:
                del self.names.types[cursor.spelling]
                self.left_out.append(LeftOut(f"callback {cursor.spelling}", str(error)))

    def callback(self, cursor: Any) -> m.Callback:
        kind = cursor.underlying_typedef_type.get_canonical().get_pointee()
        # the canonical type has lost its typedefs, which its declaration still has
        declared = pointee_of(cursor.underlying_typedef_type) or kind
        names = [each.spelling for each in cursor.get_children() if each.kind.name == "PARM_DECL"]
        returns = self.types.result(declared.get_result())
        params = self.parameters(names, declared, cursor)
        return m.Callback(
            self.prefix.strip(cursor.spelling), params, returns, comments.text(cursor), "", "any", "", self.span(cursor)
        )

    def functions(self) -> Iterator[m.Function]:
        """Functions that have a symbol, each once."""
        seen = set()
        for cursor in self.cursors:
            name = cursor.spelling
            if cursor.kind.name != "FUNCTION_DECL" or name in seen:
                continue
            seen.add(name)
            if cursor.storage_class.name == "STATIC" or cursor.is_definition():
                self.left_out.append(LeftOut(name, "it is defined in the header, so the library has no symbol of it"))
                continue
            try:
                names = [each.spelling for each in cursor.get_arguments()]
                params = self.parameters(names, cursor.type, cursor)
                returns = self.types.result(cursor.result_type)
            except sizes.Unsized as error:
                self.left_out.append(LeftOut(name, str(error)))
                continue
            deprecated, span = self.aged(cursor)
            yield m.Function(
                self.prefix.strip(name), "", params, returns, comments.text(cursor), "", deprecated=deprecated, span=span
            )

    def parameters(self, names: list[str], kind: Any, cursor: Any) -> tuple[m.Param, ...]:
        """The parameters of a function type; those without a name are called by their place, from 1."""
        span = self.span(cursor)
        places = {each.spelling: self.span(each) for each in cursor.get_children() if each.kind.name == "PARM_DECL"}
        arguments = list(kind.argument_types()) if kind.kind.name == "FUNCTIONPROTO" else []
        names = names if len(names) == len(arguments) else [""] * len(arguments)
        params = []
        for number, (name, argument) in enumerate(zip(names, arguments, strict=True), 1):
            way = self.types.parameter(argument)
            params.append(
                m.Param(
                    name or f"parameter_{number}", way.type, way.passing, "", way.direction, span=places.get(name, span)
                )
            )
        if kind.kind.name == "FUNCTIONPROTO" and kind.is_function_variadic():
            params.append(m.Param("...", m.CType("c", "...", {}), m.Passing.VALUE, "", span=span))
        return tuple(params)

    def handles(self, records: dict[str, Any], functions: tuple[m.Function, ...]) -> Iterator[m.Handle]:
        """Opaque structs of the library. The function that ends one is known by its name, if it can be one in use."""
        for tag, cursor in records.items():
            known = self.names.types.get(f"struct {tag}")
            if known is None or known.kind != "handle":
                continue
            ends = [f for f in functions if releases(f.name) and f.returns is None and [p.type for p in f.params] == [known]]
            ends.sort(key=lambda function: function.deprecated is not None)
            release = ends[0].name if ends else ""
            yield m.Handle(known.name, tag, release, "one", None, comments.text(cursor), self.span(cursor))

    def foreign(self) -> Iterator[m.ForeignType]:
        """Other libraries' structs that the library's functions and structs point to."""
        for tag, cursor in sorted(self.names.foreign.items()):
            file = self.file(cursor)
            yield m.ForeignType(tag, file.replace("\\", "/").rsplit("/", 1)[-1], "", span=self.span(cursor))


def is_nameless(cursor: Any) -> bool:
    """A struct, union or enum without a tag; clang makes up a name with a place in brackets."""
    return not cursor.spelling or "(" in cursor.spelling


def pointee_of(kind: Any) -> Any:
    """The function type that a typedef points to, with the typedefs in it; None if that is itself behind a typedef."""
    while kind.kind.name == "ELABORATED":
        kind = kind.get_named_type()
    pointee = kind.get_pointee()
    return pointee if pointee.kind.name == "FUNCTIONPROTO" else None


def agrees(layout: engine.StructLayout, kind: Any) -> bool:
    """Whether clang lays a struct out like the engine."""
    ours = [field.offset * 8 for field in layout.fields]
    theirs = [field.get_field_offsetof() for field in kind.get_fields()]
    return (layout.size, layout.align, ours) == (kind.get_size(), kind.get_align(), theirs)
