"""How values of the spec look in the safe layer, and the C# statements that turn them into C's and back."""

from __future__ import annotations

from dataclasses import dataclass

from specbind.emit import calls
from specbind.emit.core import NotExpressible
from specbind.emit.csharp.naming import CSharpNaming
from specbind.emit.csharp.raw import RawTypes
from specbind.emit.csharp.text import string
from specbind.spec import model as m

P = m.Passing
SIZE = m.SCALARS["size"]


@dataclass(frozen=True, slots=True)
class Given:
    """An input: its type, the statements before the call, its C argument, and that of its length or user pointer.

    `span` is the type where spans are known, `pin` a `fixed` statement around the call; `required` refuses null and
    `optional` takes it, a value knows none.
    """

    name: str
    type: str
    value: str
    before: tuple[str, ...] = ()
    second: str = ""
    span: str = ""
    pin: str = ""
    required: bool = False
    optional: bool = False


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

    def __init__(self, spec: m.Spec, naming: CSharpNaming) -> None:
        self.spec = spec
        self.naming = naming
        self.raw = RawTypes(naming)

    # types

    def plain(self, item: m.Param | m.Field) -> str:
        """A number, a truth value or an enum."""
        kind = item.type
        if isinstance(kind, m.Scalar):
            return "bool" if calls.is_boolean(item) else "long" if kind == SIZE else self.raw.value(kind)
        if isinstance(kind, m.Ref) and kind.kind == "enum":
            return self.naming.type(kind.name)
        raise NotExpressible(f"{item.name}: a {kind.name} by value")

    def to_c(self, item: m.Param | m.Field, value: str) -> str:
        """The C value of a plain one."""
        type_, raw = self.plain(item), self.raw.value(item.type)
        return f"{value} ? 1 : 0" if type_ == "bool" else value if type_ == raw else f"({raw}){value}"

    def from_c(self, item: m.Param | m.Field, value: str) -> str:
        """The plain value of a C one."""
        type_ = self.plain(item)
        return f"{value} != 0" if type_ == "bool" else value if type_ == self.raw.value(item.type) else f"({type_}){value}"

    def is_bound(self, struct: m.Struct) -> bool:
        """Whether a received struct lives no longer than what it points to."""
        return any(calls.is_kind(f.type, "foreign") or calls.is_kind(f.type, "handle") for f in struct.fields)

    # callbacks

    def closure(self, kind: m.Type) -> str:
        """Type of a delegate that the caller gives: `Func<float, bool>`."""
        assert isinstance(kind, m.Ref)
        item = self.spec.callback(kind.name)
        arguments = [self.closure_argument(p)[0] for p in item.params if not isinstance(p.type, m.Pointer)]
        return f"Action<{', '.join(arguments)}>" if item.returns is None else f"Func<{', '.join([*arguments, 'bool'])}>"

    def closure_argument(self, param: m.Param) -> tuple[str, str]:
        """Type and expression of a delegate's argument."""
        name, kind = self.naming.parameter(param), param.type
        if isinstance(kind, m.Str):
            return "string", f"Utf8.Of({name})"
        if param.passing is P.STRUCT_IN and isinstance(kind, m.Ref):
            return self.naming.type(kind.name), f"new {self.naming.type(kind.name)}(*{name})"
        return self.plain(param), self.from_c(param, name)

    # inputs

    def given(self, call: calls.Call, thing: calls.Input) -> Given:
        """An input of `call`."""
        param, kind = thing.param, thing.param.type
        name = self.naming.parameter(param)
        if param.passing is P.ARRAY_IN:
            return self.given_array(thing, name)
        if param.passing is P.STRUCT_IN and isinstance(kind, m.Ref):
            raw = f"raw{name.lstrip('@')[:1].upper()}{name.lstrip('@')[1:]}"
            type_ = self.naming.raw(kind.name)
            if param.nullable:
                before = (f"var {raw} = {name} == null ? default({type_}) : {name}.ToRaw(call);",)
                return Given(name, self.naming.type(kind.name), f"{name} == null ? null : &{raw}", before, optional=True)
            return Given(name, self.naming.type(kind.name), f"&{raw}", (f"var {raw} = {name}.ToRaw(call);",), required=True)
        if param.passing is not P.VALUE:
            raise NotExpressible(f"{call.function.name}: {param.name} goes in and out")
        if isinstance(kind, m.Str):
            return Given(name, "string", f"call.Text({string(param.name)}, {name})", optional=param.nullable, required=not param.nullable)
        if calls.is_callback(kind):
            assert isinstance(kind, m.Ref)
            verb = "Keep" if self.spec.callback(kind.name).thread == "any" else "Lend"
            before = (f"var user = call.{verb}({name});",)
            callback = f"user == IntPtr.Zero ? IntPtr.Zero : Callbacks.{self.naming.type(kind.name)}"
            return Given(name, self.closure(kind), callback, before, "user", optional=param.nullable, required=not param.nullable)
        if isinstance(kind, m.Ref) and kind.kind == "foreign":
            return Given(name, self.naming.type(kind.name), f"call.Use({name})", optional=param.nullable, required=not param.nullable)
        if isinstance(kind, m.Ref) and kind.kind == "handle":
            raise NotExpressible(f"{call.function.name}: a second object among the parameters, {param.name}")
        return Given(name, self.plain(param), self.to_c(param, name))

    def given_array(self, thing: calls.Input, name: str) -> Given:
        kind = thing.param.type
        if thing.length is None or thing.length.type != SIZE:
            raise NotExpressible(f"{thing.param.name}: an array whose length is not a size")
        count = f"(UIntPtr){name}.Length"
        if isinstance(kind, m.Scalar):
            element, pointer = self.raw.value(kind), f"{name}Pointer"
            pin = f"fixed ({element}* {pointer} = {name})"
            return Given(name, f"{element}[]", pointer, (), count, f"ReadOnlySpan<{element}>", pin, required=True)
        if isinstance(kind, m.Ref) and kind.kind == "struct":
            raw, pointer = self.naming.raw(kind.name), f"{name}Pointer"
            before = (
                f"var {name}Raw = new {raw}[{name}.Count];",
                f"for (int i = 0; i < {name}.Count; i++)",
                "{",
                f"    {name}Raw[i] = {name}[i].ToRaw(call);",
                "}",
            )
            pin = f"fixed ({raw}* {pointer} = {name}Raw)"
            return Given(
                name, f"IReadOnlyList<{self.naming.type(kind.name)}>", pointer, before, f"(UIntPtr){name}.Count", pin=pin, required=True
            )
        raise NotExpressible(f"{thing.param.name}: an array of {kind.name}")

    # outputs

    def got(self, thing: calls.Output, on_object: bool) -> Got:
        """An output but a buffer."""
        param, kind = thing.param, thing.param.type
        name = self.naming.parameter(param)
        name = "found" if name == "@out" else name
        if param.passing is P.STRUCT_OUT and isinstance(kind, m.Ref):
            struct, raw = self.spec.struct(kind.name), self.naming.raw(kind.name)
            more = ", this" if self.is_bound(struct) else ""
            before = (f"var {name} = {f'{raw}.Sized()' if struct.growable else f'default({raw})'};",)
            return Got(self.naming.type(kind.name), f"&{name}", before, f"new {self.naming.type(kind.name)}({name}{more})")
        if param.passing is P.SCALAR_OUT:
            raw = self.raw.value(kind)
            return Got(self.plain(param), f"&{name}", (f"{raw} {name} = default({raw});",), self.from_c(param, name))
        if param.passing is P.OBJECT_OUT and isinstance(kind, m.Ref) and kind.kind == "foreign":
            if self.spec.foreign_type(kind.name).release is None or on_object:
                raise NotExpressible(f"{param.name}: an owned {kind.name} whose release function the spec does not name")
            owned = self.naming.owned(kind.name)
            return Got(owned, f"&{name}", (f"IntPtr {name} = IntPtr.Zero;",), f"{owned}.Of({name}, call)")
        if param.passing is P.ADDRESS_OUT and thing.length is not None and isinstance(kind, m.Scalar):
            element, length = self.raw.value(kind), self.naming.parameter(thing.length)
            starts = (f"{element}* {name} = null;", f"{self.raw.value(thing.length.type)} {length} = 0;")
            copy = f"Memory.Copy(new {element}[{length}], {name})"
            if element not in ("float", "int", "byte"):
                raise NotExpressible(f"{param.name}: borrowed data of {element}")
            return Got(f"{element}[]", f"&{name}", starts, copy, f"&{length}")
        raise NotExpressible(f"{param.name}: {param.passing.value} of {kind}")
