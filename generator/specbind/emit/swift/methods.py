"""The methods of the safe layer: one for each function, with C's parameters put together again."""

from __future__ import annotations

from dataclasses import dataclass

from specbind.emit import calls, describe
from specbind.emit.core import NotExpressible
from specbind.emit.swift.convert import Conversions, Given, Got
from specbind.emit.swift.naming import camel
from specbind.emit.swift.text import doc, listing, string
from specbind.spec import model as m

P = m.Passing
INDENT = 8  # of statements in a method


@dataclass(frozen=True, slots=True)
class Method:
    """A method ready to be placed; lines carry no indent of their own block."""

    doc: list[str]
    head: list[str]
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
        naming = types.naming
        self.on_object = call.receiver is not None
        buffer = any(o.param.passing is P.ARRAY_OUT for o in call.outputs)
        owner = "self" if self.on_object else "library"
        self.given = [types.given(call, i) for i in call.inputs]
        self.got = [] if buffer or call.constructs else [types.got(o, owner) for o in call.outputs]
        things: dict[int, Given | Got] = {id(i): g for i, g in zip(call.inputs, self.given, strict=True)}
        things |= {id(o): g for o, g in zip(call.outputs, self.got, strict=False)}
        written = {calls.Part.VALUE: "out", calls.Part.CAPACITY: "capacity", calls.Part.COUNT: "count"}

        def argument(place: calls.Argument) -> str:
            if place.part is calls.Part.SELF:
                return "object"
            thing = things.get(id(place.owner))
            if thing is None:
                return written[place.part]
            return thing.value if place.part is calls.Part.VALUE else thing.second

        arguments = [argument(a) for a in call.arguments()]
        self.invocation = listing(f"functions.{naming.function(self.function.name)}(", arguments, ")", INDENT + 4)
        self.arena = any(g.needs_arena for g in self.given)
        keeps = [g.keeps for g in self.given if g.keeps]
        self.before = ["let arena = Arena()"] if self.arena else []
        self.before += [line for g in self.given for line in g.before]
        if keeps and not self.on_object:
            self.before.append(f"let keeping = [{', '.join(keeps)}]")
        self.keeping = bool(keeps) and not self.on_object
        self.before += [line for g in self.got for line in g.before]

    def invoke(self, target: str, closure: str, binding: str = "") -> list[str]:
        """The call through the handle or the library, which turns the status into an outcome or an error."""
        more = [string(self.function.name)]
        if self.call.sequence is not None and self.on_object:
            more.append(f"about: {self.types.naming.label(self.call.sequence)}")
        if self.keeping:
            more.append("keeping: keeping")
        if self.arena:
            more.append("arena: arena")
        return [
            f"{binding}try {target}({', '.join(more)}) {{ {closure} in",
            *(f"    {line}" for line in self.invocation),
            "}",
        ]

    def head(self, returns: str, keyword: str = "func ", discardable: bool = False) -> list[str]:
        naming = self.types.naming
        parameters = ["_ library: Library"] if self.call.constructs else []
        for index, (thing, given) in enumerate(zip(self.call.inputs, self.given, strict=True)):
            label = f"_ {given.label}" if index == 0 and is_subject(thing.param) and not self.call.constructs else given.label
            default = " = nil" if given.type.endswith("?") else ""
            parameters.append(f"{label}: {given.type}{default}")
        throws = " throws(SpeculativeError)" if self.call.fallible else ""
        lines = listing(f"public {keyword}{naming.method(self.call)}(", parameters, f"){throws}{returns} {{", 4)
        if self.function.deprecated:
            lines.insert(0, f"@available(*, deprecated, message: {string(self.function.deprecated)})")
        return ["@discardableResult", *lines] if discardable else lines

    def buffer(self) -> Method:
        """A method that returns what the library writes into a buffer: asked again when the first one was too small."""
        call = self.call
        if len(call.outputs) > 1 or call.function.results or not call.fallible or not self.on_object:
            raise NotExpressible(f"{call.function.name}: a buffer and another result")
        element = self.types.raw.element(call.outputs[0].param.type)
        body = [*self.before, *self.invoke("handle.collect", "functions, object, out, capacity, count", "return ")]
        return Method(self.doc(call.outputs[0].param.doc), self.head(f" -> [{element}]"), body)

    def constructor(self) -> Method:
        if len(self.call.outputs) > 1:
            raise NotExpressible(f"{self.function.name}: an object and another output")
        assert self.call.handle is not None
        if not self.keeping:
            self.before.append("let keeping: [Owner?] = []")
            self.keeping = True
        kind = self.types.naming.member(self.call.handle.name)
        target = f"Handle.make(library, .{kind}, "
        lines = self.invoke(target, "functions, out", "handle = ")
        lines[0] = lines[0].replace(", (", ", ")
        return Method(self.doc(), self.head("", keyword=""), [*self.before, *lines, "owner = nil"])

    def infallible(self) -> Method:
        returned = self.function.returns
        call = " ".join(line.strip() for line in self.invocation)
        if isinstance(returned, m.Str):
            return Method(self.doc(self.function.doc), self.head(" -> String"), [*self.before, f"return String(c: {call})"])
        if self.got or not isinstance(returned, m.Scalar) or self.on_object:
            raise NotExpressible(f"{self.function.name}: neither a status nor a number or a text is returned")
        return Method(self.doc(self.function.doc), self.head(f" -> {self.types.raw.value(returned)}"), [*self.before, f"return {call}"])

    def checked(self) -> Method:
        results = bool(self.function.results)
        types = (["Outcome"] if results else []) + [g.type for g in self.got]
        returns = "" if not types else f" -> {types[0]}" if len(types) == 1 else f" -> ({', '.join(types)})"
        closure = "functions, object" if self.on_object else "functions"
        target = "handle.call" if self.on_object else "call"
        values = [g.result for g in self.got]
        texts = [o.param.doc for o in self.call.outputs if not isinstance(o.param.type, m.Ref)]
        text = "How it went." if results and not self.got else " ".join(texts) or "What the library says."
        if not values:
            lines = self.invoke(target, closure, "return " if results else "")
        else:
            lines = self.invoke(target, closure, "let outcome = " if results else "")
            values = (["outcome"] if results else []) + values
            lines.append(f"return {values[0]}" if len(values) == 1 else f"return ({', '.join(values)})")
        discardable = results and not self.got
        return Method(self.doc(text if returns else ""), self.head(returns, discardable=discardable), [*self.before, *lines])

    def doc(self, returns: str = "") -> list[str]:
        """Text, parameters and errors, in the form that DocC reads."""
        call = self.call
        texts = [("library", "The native library.")] if call.constructs else []
        texts += [(g.label, parameter_text(i.param)) for i, g in zip(call.inputs, self.given, strict=True)]
        lines = doc(describe.noted(call.function), 4)
        listed = []
        if len(texts) == 1:
            listed += item(f"- Parameter {texts[0][0].strip('`')}: {texts[0][1]}")
        elif texts:
            listed.append("/// - Parameters:")
            listed += [line for name, text in texts for line in item(f"- {name.strip('`')}: {text}", 2)]
        if returns and (call.fallible or call.function.returns):
            got = returns.removeprefix("Receives ")
            listed += item(f"- Returns: {got[0].upper()}{got[1:]}")
        if call.fallible:
            errors = [f"``SpeculativeError/{camel(e.removeprefix('ERROR_'))}(_:)``" for e in call.function.errors]
            errors = [e for e in errors if not (call.outputs and call.outputs[0].capacity and "bufferTooSmall" in e)]
            listed += item(f"- Throws: {', '.join(errors)}.")
        return [*lines, "///", *listed] if listed else lines


def item(text: str, indent: int = 0) -> list[str]:
    """An item of a list in a comment, wrapped behind its dash."""
    return [f"/// {' ' * indent}{line[4:]}" for line in doc(text, 4 + indent)]


def is_subject(param: m.Param) -> bool:
    """Whether a first parameter is what the method is about, so that it needs no label."""
    return isinstance(param.type, m.Str) or param.passing in (P.STRUCT_IN, P.ARRAY_IN) or calls.is_callback(param.type)


def parameter_text(param: m.Param) -> str:
    facts = [param.unit] if param.unit and not calls.is_boolean(param) else []
    if param.role == "sequence":
        facts.append("from 0 to the number of sequences - 1" + (", or ``sequenceAll``" if param.all_sequences else ""))
    if not calls.is_boolean(param):
        facts += describe.value_facts(param)
    return f"{param.doc} ({'; '.join(facts)})" if facts else param.doc
