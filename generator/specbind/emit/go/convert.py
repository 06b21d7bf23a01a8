"""How values of the spec look in the Go package, and the expressions that turn them into C's and back."""

from __future__ import annotations

from dataclasses import dataclass

from specbind.emit import calls
from specbind.emit.core import NotExpressible
from specbind.emit.go.naming import GoNaming
from specbind.emit.go.prose import Prose
from specbind.emit.go.raw import RawTypes
from specbind.emit.go.text import string
from specbind.spec import model as m

P = m.Passing


@dataclass(frozen=True, slots=True)
class Given:
    """An input: its type, the C argument, the statements before the call, and the argument of its length or user pointer.

    `pins`: the statements need a `pins` named pin.
    """

    type: str
    value: str
    before: tuple[str, ...] = ()
    second: str = ""
    pins: bool = False


@dataclass(frozen=True, slots=True)
class Got:
    """An output: its type, the statements before the call, the C argument, that of its length, the value afterwards, and its zero."""

    type: str
    value: str
    before: tuple[str, ...]
    result: str
    zero: str
    second: str = ""


class Conversions:
    """Types and expressions for one spec."""

    def __init__(self, spec: m.Spec, naming: GoNaming, wrappers: dict[str, str]) -> None:
        self.spec = spec
        self.naming = naming
        self.prose = Prose(spec, naming, wrappers)
        self.raw = RawTypes(naming)

    # types

    def plain(self, item: m.Param | m.Field) -> str:
        """A number, a truth value or an enum."""
        kind = item.type
        if isinstance(kind, m.Scalar):
            return "bool" if calls.is_boolean(item) else self.raw.value(kind)
        if isinstance(kind, m.Ref) and kind.kind == "enum":
            return self.naming.exported(kind.name)
        raise NotExpressible(f"{item.name}: a {kind.name} by value")

    def is_bound(self, struct: m.Struct) -> bool:
        """Whether a received struct refers to objects."""
        return any(calls.is_kind(f.type, "foreign") or calls.is_kind(f.type, "handle") for f in struct.fields)

    # inputs

    def given(self, call: calls.Call, thing: calls.Input, zero: str) -> Given:
        """An input of `call`; `zero` is what the method returns before `err` when a conversion fails."""
        param, kind = thing.param, thing.param.type
        name = self.naming.local(param.name)
        failed = ("if err != nil {", f"\treturn {zero}err", "}")
        if param.passing is P.ARRAY_IN:
            return self.given_array(thing, name, failed)
        if param.passing is P.STRUCT_IN:
            type_ = f"*{self.naming.exported(kind.name)}"
            raw = f"{name}Raw"
            return Given(type_, raw, (f"{raw}, err := rawOrNil({name}, &pin)", *failed), "", True)
        if param.passing is P.STRUCT_INOUT and calls.is_flat(self.spec.struct(kind.name)):
            return Given(f"*raw.{self.naming.exported(kind.name)}", name)  # C's own struct, since there is nothing in it to convert
        if param.passing is not P.VALUE:
            raise NotExpressible(f"{call.function.name}: {param.name} goes in and out and holds more than numbers")
        if isinstance(kind, m.Str):
            method = "optionalText" if param.nullable else "text"
            raw = f"{name}Raw"
            return Given("string", raw, (f"{raw}, err := pin.{method}({string(param.name)}, {name})", *failed), "", True)
        if isinstance(kind, m.Ref) and kind.kind == "callback":
            if self.spec.callback(kind.name).thread != "any":
                raise NotExpressible(f"{call.function.name}: a callback on the caller's thread outside streaming")
            before = (f"function, user := l.keep{self.naming.exported(kind.name)}({name})",)
            return Given(self.naming.exported(kind.name), "function", before, "user")
        if isinstance(kind, m.Ref) and kind.kind == "foreign":
            return Given(self.naming.exported(kind.name), f"{name}.pointer", (f"defer runtime.KeepAlive({name}.owner)",))
        if isinstance(kind, m.Ref) and kind.kind == "handle":
            raise NotExpressible(f"{call.function.name}: a second object among the parameters, {param.name}")
        type_ = self.plain(param)
        return Given(type_, f"truth({name})" if type_ == "bool" else name)

    def given_array(self, thing: calls.Input, name: str, failed: tuple[str, ...]) -> Given:
        kind = thing.param.type
        if thing.length is None or thing.length.type != m.SCALARS["size"]:
            raise NotExpressible(f"{thing.param.name}: an array whose length is not a size")
        count = f"uintptr(len({name}))"
        if isinstance(kind, m.Scalar):
            element = self.raw.value(kind)
            return Given("[]byte" if element == "uint8" else f"[]{element}", f"data({name})", (), count)
        if isinstance(kind, m.Ref) and kind.kind == "struct":
            raw = f"{name}Raw"
            element = self.naming.exported(kind.name)
            before = (f"{raw}, err := rawAll({name}, (*{element}).raw, &pin)", *failed)
            return Given(f"[]{element}", f"data({raw})", before, count, True)
        raise NotExpressible(f"{thing.param.name}: an array of {kind.name}")

    # outputs

    def got(self, thing: calls.Output, library: str, guard: str) -> Got:
        """An output but a buffer; `library` and `guard` are those of the object that is called."""
        param, kind = thing.param, thing.param.type
        name = self.naming.local(param.name)
        if param.passing is P.STRUCT_OUT:
            struct = self.spec.struct(kind.name)
            type_ = self.naming.exported(struct.name)
            before = (f"{name} := raw.{type_}{{StructSize: uint32(unsafe.Sizeof(raw.{type_}{{}}))}}",)
            more = f", {guard}" if self.is_bound(struct) else ""
            return Got(type_, f"&{name}", before, f"received{type_}(&{name}{more})", f"{type_}{{}}")
        if param.passing is P.SCALAR_OUT:
            type_ = self.plain(param)
            raw = "int32" if type_ == "bool" else f"raw.{type_}" if isinstance(kind, m.Ref) else type_
            return Got(type_, f"&{name}", (f"var {name} {raw}",), f"{name} != 0" if type_ == "bool" else name, "false" if type_ == "bool" else "0")
        if param.passing is P.OBJECT_OUT and isinstance(kind, m.Ref) and kind.kind == "foreign":
            type_ = f"Owned{self.naming.exported(kind.name)}"
            return Got(f"*{type_}", f"&{name}", (f"var {name} *raw.{self.naming.exported(kind.name)}",), f"new{type_}({library}, {name})", "nil")
        if param.passing is P.ADDRESS_OUT and thing.length is not None and isinstance(kind, m.Scalar):
            length = self.naming.local(thing.length.name)
            type_ = self.raw.value(kind)
            variables = (f"var {name} *{type_}", f"var {length} {self.raw.value(thing.length.type)}")
            return Got(f"[]{type_}", f"&{name}", variables, f"unsafe.Slice({name}, {length})", "nil", f"&{length}")
        raise NotExpressible(f"{param.name}: {param.passing.value} of {kind.name}")
