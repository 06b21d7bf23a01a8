"""The methods of the safe layer: one for each function, with C's parameters put together again."""

from __future__ import annotations

from dataclasses import dataclass

from specbind.emit import calls, describe
from specbind.emit.core import NotExpressible
from specbind.emit.csharp.convert import Conversions, Given, Got
from specbind.emit.csharp.text import element, listing, string, summary
from specbind.spec import model as m

P = m.Passing
INDENT = 8  # of a method in a class in a namespace


@dataclass(frozen=True, slots=True)
class Method:
    """A method ready to be placed; `spans` is its head where spans are known, if it differs. Lines carry no indent of their own."""

    doc: list[str]  # and attributes
    head: list[str]
    spans: list[str]
    body: list[str]


def method(types: Conversions, call: calls.Call) -> Method:
    """The method behind `call`."""
    shape = Shape(types, call)
    if any(o.param.passing is P.ARRAY_OUT for o in call.outputs):
        return shape.buffer()
    if call.constructs:
        return shape.constructor()
    return shape.checked() if call.fallible else shape.infallible()


class Shape:
    """What the kinds of methods have in common."""

    def __init__(self, types: Conversions, call: calls.Call) -> None:
        self.types, self.call = types, call
        self.function = call.function
        self.on_object = call.receiver is not None
        buffer = any(o.param.passing is P.ARRAY_OUT for o in call.outputs)
        self.given = [types.given(call, i) for i in call.inputs]
        self.got = [] if buffer or call.constructs else [types.got(o, self.on_object) for o in call.outputs]
        things: dict[int, Given | Got] = {id(i): g for i, g in zip(call.inputs, self.given, strict=True)}
        things |= {id(o): g for o, g in zip(call.outputs, self.got, strict=False)}
        made = {calls.Part.VALUE: "&made" if call.constructs else "data"}
        written = made | {calls.Part.CAPACITY: "(UIntPtr)buffer.Length", calls.Part.COUNT: "&count"}

        def argument(place: calls.Argument) -> str:
            if place.part is calls.Part.SELF:
                return "call.Object"
            thing = things.get(id(place.owner))
            if thing is None:
                return written[place.part]
            return thing.value if place.part is calls.Part.VALUE else thing.second

        self.arguments = [argument(a) for a in call.arguments()]
        self.before = [line for g in self.given for line in g.before] + [line for g in self.got for line in g.before]
        self.pins = [g.pin for g in self.given if g.pin]

    def invocation(self, assign: str, indent: int) -> list[str]:
        """The call into C, inside of whatever it needs pinned."""
        name = self.types.naming.member(self.function.name)
        lines = listing(f"{assign}Native.{name}(", self.arguments, ");", INDENT + indent + 4 * bool(self.pins))
        return [*self.pins, "{", *(f"    {line}" for line in lines), "}"] if self.pins else lines

    def entered(self, lines: list[str]) -> list[str]:
        """`lines` inside of the object's call, which keeps it alive and knows whom an error is about."""
        sequence = self.types.naming.parameter(self.call.sequence) if self.call.sequence is not None else "null"
        more = f", {sequence}" if self.on_object and sequence != "null" else ""
        if self.on_object:
            opening = f"using (var call = handle.Enter({string(self.function.name)}{more}))"
        else:
            opening = f"using (var call = Call.Begin({string(self.function.name)}))"
        checks = [f"Arguments.NotNull({g.name}, nameof({g.name}));" for g in self.given if g.required and not g.span]
        return [*checks, opening, "{", *(f"    {line}" for line in lines), "}"]

    def head(self, returns: str, name: str, *, spans: bool) -> list[str]:
        parameters = []
        for given in self.given:
            type_ = given.span if spans and given.span else given.type
            parameters.append(f"{type_} {given.name}{' = null' if given.optional and self.trailing(given) else ''}")
        static = "" if self.on_object or self.call.constructs else "static "
        return listing(f"public {static}{returns}{name}(", parameters, ")", INDENT)

    def trailing(self, given: Given) -> bool:
        """Whether nothing behind an input must be given."""
        rest = self.given[self.given.index(given) :]
        return all(g.optional for g in rest)

    def finish(self, doc: list[str], returns: str, name: str, body: list[str]) -> Method:
        """The method, with a second head and without checks for null where arrays are spans."""
        checks = [f"Arguments.NotNull({g.name}, nameof({g.name}));" for g in self.given if g.span]
        if not checks:
            return Method(doc, self.head(returns, name, spans=False), [], body)
        heads = (self.head(returns, name, spans=False), self.head(returns, name, spans=True))
        return Method(doc, *heads, ["#if !NET7_0_OR_GREATER", *checks, "#endif", *body])

    def buffer(self) -> Method:
        """A method that returns what the library writes into a buffer: asked again when the first one was too small."""
        call = self.call
        if len(call.outputs) > 1 or call.function.results or not call.fallible or not self.on_object:
            raise NotExpressible(f"{call.function.name}: a buffer and another result")
        kind = self.types.raw.element(call.outputs[0].param.type)
        body = [
            *self.before,
            f"var buffer = new {kind}[64];",
            "while (true)",
            "{",
            "    int status;",
            "    UIntPtr count = UIntPtr.Zero;",
            f"    fixed ({kind}* data = buffer)",
            "    {",
            *(f"        {line}" for line in self.invocation("status = ", 16)),
            "    }",
            "    if (call.IsTooSmall(status, count, ref buffer))",
            "    {",
            "        continue;",
            "    }",
            "    call.Check(status);",
            "    Array.Resize(ref buffer, (int)count);",
            "    return buffer;",
            "}",
        ]
        name = self.types.naming.method(call)
        return self.finish(self.doc(call.outputs[0].param.doc), f"{kind}[] ", name, self.entered(body))

    def constructor(self) -> Method:
        if len(self.call.outputs) > 1:
            raise NotExpressible(f"{self.function.name}: an object and another output")
        assert self.call.handle is not None
        body = [
            *self.before,
            "IntPtr made = IntPtr.Zero;",
            *self.invocation("int status = ", 4),
            f"handle = new {self.types.naming.handle(self.call.handle.name)}(made, call);",
            "call.CheckMade(status, handle);",
        ]
        return self.finish(self.doc(), "", self.types.naming.type(self.call.handle.name), self.entered(body))

    def infallible(self) -> Method:
        returned = self.function.returns
        call = f"Native.{self.types.naming.member(self.function.name)}({', '.join(self.arguments)})"
        name = self.types.naming.method(self.call)
        if self.got or self.on_object or not isinstance(returned, m.Str | m.Scalar):
            raise NotExpressible(f"{self.function.name}: neither a status nor a number or a text is returned")
        value = f"Utf8.Of({call})" if isinstance(returned, m.Str) else call
        type_ = "string" if isinstance(returned, m.Str) else self.types.raw.value(returned)
        return self.finish(self.doc(self.function.doc), f"{type_} ", name, ["Load();", f"return {value};"])

    def checked(self) -> Method:
        results = bool(self.function.results)
        types = (["Outcome"] if results else []) + [g.type for g in self.got]
        returns = "void" if not types else types[0] if len(types) == 1 else f"({', '.join(types)})"
        values = [g.result for g in self.got]
        lines = [*self.before]
        lines += ["int status;", *self.invocation("status = ", 4)] if self.pins else self.invocation("int status = ", 4)
        if not values:
            lines.append(f"{'return ' if results else ''}call.Check(status);")
        else:
            lines.append(f"{'var outcome = ' if results else ''}call.Check(status);")
            values = (["outcome"] if results else []) + values
            lines.append(f"return {values[0]};" if len(values) == 1 else f"return ({', '.join(values)});")
        texts = [o.param.doc for o in self.call.outputs if not isinstance(o.param.type, m.Ref)]
        text = "How it went." if results and not self.got else " ".join(texts) or "What the library says."
        name = self.types.naming.method(self.call)
        return self.finish(self.doc(text if returns != "void" else ""), f"{returns} ", name, self.entered(lines))

    def doc(self, returns: str = "") -> list[str]:
        """Text, parameters, result and exceptions as XML."""
        call, lines = self.call, summary(describe.noted(self.call.function), INDENT)
        for given, thing in zip(self.given, call.inputs, strict=True):
            lines += element("param", parameter_text(thing.param), INDENT, f' name="{given.name.lstrip("@")}"')
        if returns:
            got = returns.removeprefix("Receives ")
            lines += element("returns", got[0].upper() + got[1:], INDENT)
        handled = {"ERROR_BUFFER_TOO_SMALL"} if any(o.capacity for o in call.outputs) else set()
        for error in call.function.errors if call.fallible else ():
            if error not in handled:
                cref = self.types.naming.exception(error)
                text = next(v.doc for v in self.types.spec.status.values if v.name == error)
                lines += element("exception", text, INDENT, f' cref="{cref}"')
        return [*lines, f"[Obsolete({string(call.function.deprecated)})]"] if call.function.deprecated else lines


def parameter_text(param: m.Param) -> str:
    facts = [param.unit] if param.unit and not calls.is_boolean(param) else []
    if param.role == "sequence":
        facts.append("from 0 to the number of sequences - 1" + (", or SeqAll" if param.all_sequences else ""))
    if not calls.is_boolean(param):
        facts += describe.value_facts(param)
    return f"{param.doc} ({'; '.join(facts)})" if facts else param.doc
