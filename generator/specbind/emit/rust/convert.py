"""How values of the spec look in the safe crate, and the Rust expressions that turn them into C's and back."""

from __future__ import annotations

from dataclasses import dataclass

from specbind.emit import calls
from specbind.emit.core import NotExpressible
from specbind.emit.rust.naming import RustNaming
from specbind.emit.rust.prose import Prose
from specbind.emit.rust.raw import RawTypes
from specbind.emit.rust.text import string
from specbind.spec import model as m

P = m.Passing
SIZE = m.SCALARS["size"]


@dataclass(frozen=True, slots=True)
class Given:
    """An input: its type, the statement before the call, its C argument, and that of its length or user pointer."""

    type: str
    value: str
    before: str = ""
    second: str = ""


@dataclass(frozen=True, slots=True)
class Got:
    """An output: its type, the statements before the call, its C argument, that of its length, and the value afterwards."""

    type: str
    value: str
    before: tuple[str, ...]
    result: str
    second: str = ""


class Conversions:
    """Types and expressions for one spec."""

    def __init__(self, spec: m.Spec, naming: RustNaming, wrappers: dict[str, str]) -> None:
        self.spec = spec
        self.naming = naming
        self.prose = Prose(spec, naming, wrappers)
        self.raw = RawTypes(naming)

    # types

    def sys(self, struct: str) -> str:
        return f"sys::{self.naming.c.struct(struct)}"

    def plain(self, item: m.Param | m.Field) -> str:
        """A number, a truth value or an enum."""
        kind = item.type
        if isinstance(kind, m.Scalar):
            return "bool" if calls.is_boolean(item) else self.raw.value(kind)
        if isinstance(kind, m.Ref) and kind.kind == "enum":
            return self.naming.type(kind.name)
        raise NotExpressible(f"{item.name}: a {kind.name} by value")

    def owns(self, struct: m.Struct) -> bool:
        """Whether a given struct keeps its texts and lists itself: one with defaults is built first and used later."""
        return struct.init is not None

    def is_bound(self, struct: m.Struct) -> bool:
        """Whether a received struct lives no longer than what it points to."""
        return any(calls.is_kind(f.type, "foreign") or calls.is_kind(f.type, "handle") for f in struct.fields)

    def given_struct(self, name: str) -> str:
        return self.naming.type(name) + ("" if self.owns(self.spec.struct(name)) else "<'_>")

    # inputs

    def given(self, call: calls.Call, thing: calls.Input, lifetime: str) -> Given:
        """An input of `call`; `lifetime` is that of the objects of other libraries."""
        param, kind = thing.param, thing.param.type
        name = self.naming.identifier(param.name)
        if param.passing is P.ARRAY_IN:
            return self.given_array(thing, name)
        if param.passing is P.STRUCT_IN:
            type_ = f"&{self.given_struct(kind.name)}"
            if param.nullable:
                before = f"let {name} = {name}.map(|it| it.to_raw(&mut arena)).transpose()?;"
                return Given(f"Option<{type_}>", f"convert::pointer_to({name}.as_ref())", before)
            return Given(type_, f"&{name}", f"let {name} = {name}.to_raw(&mut arena)?;")
        if param.passing is P.STRUCT_INOUT and calls.is_flat(self.spec.struct(kind.name)):
            return Given(f"&mut {self.sys(kind.name)}", name)  # C's own struct, since there is nothing in it to convert
        if param.passing is not P.VALUE:
            raise NotExpressible(f"{call.function.name}: {param.name} goes in and out and holds more than numbers")
        if isinstance(kind, m.Str):
            method, type_ = ("optional_text", "Option<&str>") if param.nullable else ("text", "&str")
            return Given(type_, name, f"let {name} = arena.{method}({string(param.name)}, {name})?;")
        if isinstance(kind, m.Ref) and kind.kind == "callback":
            if self.spec.callback(kind.name).thread != "any":
                raise NotExpressible(f"{call.function.name}: a callback on the caller's thread outside streaming")
            return Given(
                f"Option<Box<{self.naming.type(kind.name)}>>", name, f"let ({name}, user) = callbacks::keep_{kind.name}({name});", "user"
            )
        if isinstance(kind, m.Ref) and kind.kind == "foreign":
            # a method of an object keeps the pointer for as long as the object likes
            life = lifetime if call.receiver is None else "'static"
            type_ = f"{self.naming.type(kind.name)}<{life}>"
            if param.nullable:
                return Given(f"Option<{type_}>", f"{name}.map_or(ptr::null_mut(), |it| it.as_ptr())")
            return Given(type_, f"{name}.as_ptr()")
        if isinstance(kind, m.Ref) and kind.kind == "handle":
            raise NotExpressible(f"{call.function.name}: a second object among the parameters, {param.name}")
        type_ = self.plain(param)
        return Given(type_, name if type_ == self.raw.value(kind) else f"i32::from({name})")

    def given_array(self, thing: calls.Input, name: str) -> Given:
        kind = thing.param.type
        count = f"{name}.len()"
        if thing.length is None or thing.length.type != SIZE:
            raise NotExpressible(f"{thing.param.name}: an array whose length is not a size")
        if isinstance(kind, m.Scalar):
            return Given(f"&[{self.raw.value(kind)}]", f"{name}.as_ptr()", "", count)
        if isinstance(kind, m.Ref) and kind.kind == "struct":
            return Given(f"&[{self.given_struct(kind.name)}]", f"{name}.as_ptr()", f"let {name} = convert::raw_all({name}, &mut arena)?;", count)
        raise NotExpressible(f"{thing.param.name}: an array of {kind.name}")

    # outputs

    def got(self, thing: calls.Output, lifetime: str, library: str) -> Got:
        """An output but a buffer; `lifetime` is that of what it refers to."""
        param, kind = thing.param, thing.param.type
        name = self.naming.identifier(param.name)
        if param.passing is P.STRUCT_OUT:
            struct = self.spec.struct(kind.name)
            type_ = self.naming.type(struct.name)
            more, bound = (f", {library}", f"<{lifetime}>") if self.is_bound(struct) else ("", "")
            return Got(
                type_ + bound, f"&mut {name}", (f"let mut {name} = {self.sys(kind.name)}::default();",),
                f"unsafe {{ {type_}::from_raw(&{name}{more}) }}",
            )  # fmt: skip
        if param.passing is P.SCALAR_OUT:
            type_ = self.plain(param)
            result = name if type_ == self.raw.value(kind) else f"{name} != 0" if type_ == "bool" else f"{type_}::from({name})"
            return Got(type_, f"&mut {name}", (f"let mut {name} = {'0.0' if type_ in ('f32', 'f64') else '0'};",), result)
        if param.passing is P.OBJECT_OUT and calls.is_kind(kind, "foreign"):
            owned = f"Owned{self.naming.type(kind.name)}"
            release = self.spec.foreign_type(kind.name).release
            if release is None or library != "self":
                raise NotExpressible(f"{param.name}: an owned {kind.name} whose release function the spec does not name")
            before = (f'let release = self.foreign("{release}", self.functions().{release})?;', f"let mut {name} = ptr::null_mut();")
            return Got(f"Option<{owned}<{lifetime}>>", f"&mut {name}", before, f"{owned}::new({name}, release)")
        if param.passing is P.ADDRESS_OUT and thing.length is not None and isinstance(kind, m.Scalar):
            length = self.naming.identifier(thing.length.name)
            reference = "&" if lifetime == "'_" else f"&{lifetime} "
            return Got(
                f"{reference}[{self.raw.value(kind)}]", f"&mut {name}", (f"let mut {name} = ptr::null();", f"let mut {length} = 0;"),
                f"unsafe {{ convert::borrowed({name}, {length}) }}", f"&mut {length}",
            )  # fmt: skip
        raise NotExpressible(f"{param.name}: {param.passing.value} of {kind.name}")
