"""How values of the spec look in the safe layer, and the Swift expressions that turn them into C's and back."""

from __future__ import annotations

from dataclasses import dataclass

from specbind.emit import calls
from specbind.emit.core import NotExpressible
from specbind.emit.swift.naming import SwiftNaming
from specbind.emit.swift.raw import RawTypes
from specbind.emit.swift.text import string
from specbind.spec import model as m

P = m.Passing
SIZE = m.SCALARS["size"]


@dataclass(frozen=True, slots=True)
class Given:
    """An input: its type, the statements before the call, its C argument, and that of its length or user pointer."""

    label: str
    type: str
    value: str
    before: tuple[str, ...] = ()
    second: str = ""
    keeps: str = ""  # what must outlive an object that is made from it

    @property
    def needs_arena(self) -> bool:
        return any("arena" in line for line in self.before)


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

    def __init__(self, spec: m.Spec, naming: SwiftNaming) -> None:
        self.spec = spec
        self.naming = naming
        self.raw = RawTypes(naming)

    # types

    def plain(self, item: m.Param | m.Field) -> str:
        """A number, a truth value or an enum."""
        kind = item.type
        if isinstance(kind, m.Scalar):
            return "Bool" if calls.is_boolean(item) else self.raw.value(kind)
        if isinstance(kind, m.Ref) and kind.kind == "enum":
            return self.naming.type(kind.name)
        raise NotExpressible(f"{item.name}: a {kind.name} by value")

    def to_c(self, item: m.Param | m.Field, value: str) -> str:
        """The C value of a plain one."""
        type_ = self.plain(item)
        if type_ == "Bool":
            return f"{value} ? 1 : 0"
        return value if type_ == self.raw.value(item.type) else f"{value}.rawValue"

    def from_c(self, item: m.Param | m.Field, value: str) -> str:
        """The plain value of a C one."""
        type_ = self.plain(item)
        if type_ == "Bool":
            return f"{value} != 0"
        return value if type_ == self.raw.value(item.type) else f"{type_}(rawValue: {value})"

    def is_bound(self, struct: m.Struct) -> bool:
        """Whether a received struct lives no longer than what it points to."""
        return any(calls.is_kind(f.type, "foreign") or calls.is_kind(f.type, "handle") for f in struct.fields)

    # callbacks

    def closure(self, kind: m.Type) -> str:
        """Type of a closure that the caller gives: `(Float) throws -> Flow`."""
        assert isinstance(kind, m.Ref)
        item = self.spec.callback(kind.name)
        arguments = ", ".join(self.closure_argument(p)[0] for p in item.params if not isinstance(p.type, m.Pointer))
        if item.thread == "any":
            return f"@Sendable ({arguments}) -> {'Void' if item.returns is None else 'Flow'}"
        return f"({arguments}) throws -> {'Void' if item.returns is None else 'Flow'}"

    def closure_argument(self, param: m.Param) -> tuple[str, str]:
        """Type and expression of a closure's argument."""
        name, kind = self.naming.label(param), param.type
        if isinstance(kind, m.Str):
            return "String", f"String(c: {name})"
        if param.passing is P.STRUCT_IN and isinstance(kind, m.Ref):
            return self.naming.type(kind.name), f"{self.naming.type(kind.name)}({name}!.pointee)"
        return self.plain(param), self.from_c(param, name)

    # inputs

    def given(self, call: calls.Call, thing: calls.Input) -> Given:
        """An input of `call`."""
        param, kind = thing.param, thing.param.type
        name = self.naming.label(param)
        optional = "?" if param.nullable else ""
        if param.passing is P.ARRAY_IN:
            return self.given_array(thing, name)
        if param.passing is P.STRUCT_IN and isinstance(kind, m.Ref):
            return Given(name, self.naming.type(kind.name) + optional, name, (f"let {name} = arena.keep(try {name}{optional}.raw(arena))",))
        if param.passing is not P.VALUE:
            raise NotExpressible(f"{call.function.name}: {param.name} goes in and out")
        if isinstance(kind, m.Str):
            return Given(name, f"String{optional}", name, (f"let {name} = try arena.text({string(param.name)}, {name})",))
        if calls.is_callback(kind):
            assert isinstance(kind, m.Ref)
            keep = "keep" if self.spec.callback(kind.name).thread == "any" else "lend"
            before = f"let (callback, user) = {keep}{self.naming.type(kind.name)}({name}{', arena' if keep == 'lend' else ''})"
            closure = f"({self.closure(kind)})?" if param.nullable else f"@escaping {self.closure(kind)}"
            return Given(name, closure, "callback", (before,), "user")
        if isinstance(kind, m.Ref) and kind.kind == "foreign":
            return Given(name, self.naming.type(kind.name) + optional, f"{name}{optional}.pointer", keeps=f"{name}{optional}.owner")
        if isinstance(kind, m.Ref) and kind.kind == "handle":
            raise NotExpressible(f"{call.function.name}: a second object among the parameters, {param.name}")
        return Given(name, self.plain(param), self.to_c(param, name))

    def given_array(self, thing: calls.Input, name: str) -> Given:
        kind = thing.param.type
        if thing.length is None or thing.length.type != SIZE:
            raise NotExpressible(f"{thing.param.name}: an array whose length is not a size")
        if isinstance(kind, m.Scalar):
            return Given(name, f"[{self.raw.value(kind)}]", name, (), f"{name}.count")
        if isinstance(kind, m.Ref) and kind.kind == "struct":
            before = (
                f"var raw: [{self.naming.c.struct(kind.name)}] = []",
                f"for item in {name} {{ raw.append(try item.raw(arena)) }}",
                f"let {name} = arena.keep(all: raw)",
            )
            return Given(name, f"[{self.naming.type(kind.name)}]", name, before, "raw.count")
        raise NotExpressible(f"{thing.param.name}: an array of {kind.name}")

    # outputs

    def got(self, thing: calls.Output, owner: str) -> Got:
        """An output but a buffer; `owner` is what must outlive the objects in it."""
        param, kind = thing.param, thing.param.type
        name = self.naming.label(param)
        if param.passing is P.STRUCT_OUT and isinstance(kind, m.Ref):
            struct = self.spec.struct(kind.name)
            name = "out" if name == "out_" else name
            more = f", of: {owner}" if self.is_bound(struct) else ""
            start = "sized()" if struct.growable else "()"
            before = f"var {name} = {self.naming.c.struct(kind.name)}{'.' if struct.growable else ''}{start}"
            return Got(self.naming.type(kind.name), f"&{name}", (before,), f"{self.naming.type(kind.name)}({name}{more})")
        if param.passing is P.SCALAR_OUT:
            before = f"var {name}: {self.raw.value(kind)} = 0"
            return Got(self.plain(param), f"&{name}", (before,), self.from_c(param, name))
        if param.passing is P.OBJECT_OUT and calls.is_kind(kind, "foreign"):
            assert isinstance(kind, m.Ref)
            release = self.spec.foreign_type(kind.name).release
            if release is None or owner != "library":
                raise NotExpressible(f"{param.name}: an owned {kind.name} whose release function the spec does not name")
            owned = self.naming.owned(kind.name)
            name = "out" if name == "out_" else name
            return Got(f"{owned}?", f"&{name}", (f"var {name}: OpaquePointer?",), f"try {owned}({name}, self, keeping: keeping)")
        if param.passing is P.ADDRESS_OUT and thing.length is not None and isinstance(kind, m.Scalar):
            length = self.naming.label(thing.length)
            element = self.raw.value(kind)
            before_all = (f"var {name}: UnsafePointer<{element}>?", f"var {length}: {self.raw.value(thing.length.type)} = 0")
            return Got(f"[{element}]", f"&{name}", before_all, f"copied({name}, Int({length}))", f"&{length}")
        raise NotExpressible(f"{param.name}: {param.passing.value} of {kind}")
