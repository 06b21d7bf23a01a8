"""The methods of the safe crate: one for each function, with C's parameters put together again."""

from __future__ import annotations

from dataclasses import dataclass

from specbind.emit import calls, describe
from specbind.emit.core import NotExpressible
from specbind.emit.rust.convert import Conversions, Given, Got
from specbind.emit.rust.naming import pascal
from specbind.emit.rust.text import doc, listing, string, unsafe_call
from specbind.spec import model as m

P = m.Passing
INDENT = 8  # of statements in a method
CALL_SAFETY = "// SAFETY: the object lives, and what the pointers point to outlives the call."
RESULT_SAFETY = "// SAFETY: filled by the library, which keeps what it points to."


@dataclass(frozen=True, slots=True)
class Method:
    """A method ready to be placed; lines carry no indent of their own block."""

    doc: list[str]
    head: list[str]
    body: list[str]


def method(types: Conversions, call: calls.Call) -> Method:
    """The method behind `call`: on the object, or on its remote if any thread may call it."""
    if any(o.param.passing is P.ARRAY_OUT for o in call.outputs):
        return buffer_method(types, call)
    shape = Shape(types, call)
    if call.constructs:
        return shape.constructor()
    return shape.checked() if call.fallible else shape.infallible()


def buffer_method(types: Conversions, call: calls.Call) -> Method:
    """A method that returns what the library writes into a buffer: asked again when the first one was too small."""
    if len(call.outputs) > 1 or call.function.results or not call.fallible or call.receiver is None:
        raise NotExpressible(f"{call.function.name}: a buffer and another result")
    element = types.raw.element(call.outputs[0].param.type)
    shape = Shape(types, call, buffer=True)
    return Method(
        method_doc(types, call),
        shape.head(f"Result<Vec<{element}>>"),
        [
            *shape.before,
            CALL_SAFETY,
            "let (status, found) = convert::collect(|out, capacity, count| unsafe {",
            *(f"    {line}" for line in listing(f"{shape.callee}(", shape.arguments, ")", INDENT + 4)),
            "});",
            f"{shape.check}?;",
            "Ok(found)",
        ],
    )


class Shape:
    """What the kinds of methods have in common."""

    def __init__(self, types: Conversions, call: calls.Call, buffer: bool = False) -> None:
        self.types, self.call = types, call
        self.function = call.function
        naming = types.naming
        self.on_object = call.receiver is not None
        self.remote = self.on_object and self.function.threads == "any"
        self.library = "library" if call.constructs else "self.library()" if self.on_object else "self"
        refers = any(o.param.passing in (P.OBJECT_OUT, P.ADDRESS_OUT) for o in call.outputs)
        self.lifetime = "'c" if refers and not self.on_object else "'_"
        self.given = [types.given(call, i, self.lifetime) for i in call.inputs]
        self.got = [] if buffer or call.constructs else [types.got(o, self.lifetime, self.library) for o in call.outputs]
        # data that is valid until a later call, of an object that the borrow checker does not see
        self.unsafe = not self.on_object and any(o.param.passing is P.ADDRESS_OUT for o in call.outputs)

        things: dict[int, Given | Got] = {id(i): g for i, g in zip(call.inputs, self.given, strict=True)}
        things |= {id(o): g for o, g in zip(call.outputs, self.got, strict=False)}
        written = {calls.Part.VALUE: "&mut out" if call.constructs else "out", calls.Part.CAPACITY: "capacity", calls.Part.COUNT: "count"}

        def argument(place: calls.Argument) -> str:
            if place.part is calls.Part.SELF:
                return "live.as_ptr()" if self.remote else "self.as_ptr()"
            thing = things.get(id(place.owner))
            if thing is None:
                return written[place.part]
            return thing.value if place.part is calls.Part.VALUE else thing.second

        self.arguments = [argument(a) for a in call.arguments()]
        self.callee = f"({'library' if call.constructs else 'self'}.functions().{naming.identifier(self.function.name)})"
        statements = [g.before for g in self.given if g.before] + [line for g in self.got for line in g.before]
        arena = any("arena" in line for line in statements)
        self.before = ["let mut arena = Arena::default();", *statements] if arena else statements
        about = f", Some({naming.identifier(call.sequence.name)})" if call.sequence else ", None"
        self.check = f'self.check("{self.function.name}", status{about if self.on_object else ""})'
        if self.remote:
            self.before.insert(0, "let live = self.0.live()?;")
            self.check = f'self.0.library().check("{self.function.name}", status)'

    def head(self, returns: str) -> list[str]:
        naming = self.types.naming
        first = ["library: &Library"] if self.call.constructs else ["&self" if self.reads() else "&mut self"]
        rest = [f"{naming.identifier(i.param.name)}: {g.type}" for i, g in zip(self.call.inputs, self.given, strict=True)]
        generic = "<'c>" if self.lifetime == "'c" and not self.call.constructs else ""
        name = f"pub {'unsafe ' if self.unsafe else ''}fn {naming.method(self.call)}{generic}("
        return listing(name, first + rest, f"){f' -> {returns}' if returns else ''} {{", 4)

    def reads(self) -> bool:
        """Whether the object is only asked: there is an answer, no result but success, and the answer borrows nothing."""
        if not self.on_object or self.remote:
            return True
        borrows = any("<'_>" in g.type or g.type.startswith("&") for g in self.got)
        return bool(self.call.outputs) and not self.function.results and not borrows

    def call_lines(self, binding: str) -> list[str]:
        return [*self.before, CALL_SAFETY, *unsafe_call(binding, self.callee, self.arguments, INDENT)]

    def constructor(self) -> Method:
        if len(self.call.outputs) > 1:
            raise NotExpressible(f"{self.function.name}: an object and another output")
        self.before.append("let mut out = ptr::null_mut();")
        body = [*self.call_lines("let status = "), f'Handle::made(library, "{self.function.name}", status, out).map(Self::wrap)']
        return Method(method_doc(self.types, self.call), self.head("Result<Self>"), body)

    def infallible(self) -> Method:
        returned = self.function.returns
        if isinstance(returned, m.Str):
            body = [*self.call_lines("let value = "), "// SAFETY: a C string that stays.", "unsafe { convert::text(value) }"]
            return Method(method_doc(self.types, self.call), self.head("String"), body)
        if self.got or not isinstance(returned, m.Scalar):
            raise NotExpressible(f"{self.function.name}: neither a status nor a number or a text is returned")
        body = self.call_lines("")
        body[-1] = body[-1].removesuffix(";")
        return Method(method_doc(self.types, self.call), self.head(self.types.raw.value(returned)), body)

    def checked(self) -> Method:
        types = (["Outcome"] if self.function.results else []) + [g.type for g in self.got] or ["()"]
        returns = types[0] if len(types) == 1 else f"({', '.join(types)})"
        body = self.call_lines("let status = ")
        if self.function.results and not self.got:
            return Method(method_doc(self.types, self.call), self.head("Result<Outcome>"), [*body, self.check])
        values = [g.result for g in self.got] or ["()"]
        note = [RESULT_SAFETY] if any("unsafe" in v for v in values) else []
        made = [g for o, g in zip(self.call.outputs, self.got, strict=True) if o.param.passing is P.OBJECT_OUT]
        if made:  # owned from here on, whatever the check says
            body, note, values = [*body, f"let made = {made[0].result};"], [], ["made"]
        if self.function.results:
            body += [f"let outcome = {self.check}?;", *note, f"Ok((outcome, {', '.join(values)}))"]
        else:
            body += [f"{self.check}?;", *note, f"Ok({values[0] if len(values) == 1 else '(' + ', '.join(values) + ')'})"]
        return Method(method_doc(self.types, self.call, self.unsafe), self.head(f"Result<{returns}>"), body)


def method_doc(types: Conversions, call: calls.Call, unsafe: bool = False) -> list[str]:
    """Text, inputs and errors of a method, and what the compiler is to say of a deprecated one."""
    own = frozenset(p.name for p in call.function.params)
    text = types.prose(call.function.doc, own)
    if call.inputs:
        text += "\n\n" + "\n".join(f"- `{i.param.name}`: {types.prose(parameter_text(i.param), own)}" for i in call.inputs)
    if errors := [e for e in call.function.errors if not handled(e, call)]:
        text += "\n\n# Errors\n\n" + ", ".join(f"[`Error::{error_variant(e)}`]" for e in errors) + "."
    if unsafe:
        text += "\n\n# Safety\n\nNothing but this text ends the slice's life: do not use it after the next decode of the context."
    deprecated = call.function.deprecated
    return doc(text, 4) + ([f"#[deprecated(note = {string(deprecated)})]"] if deprecated else [])


def handled(error: str, call: calls.Call) -> bool:
    """Whether the method deals with an error itself."""
    return error == "ERROR_BUFFER_TOO_SMALL" and any(o.capacity for o in call.outputs)


def parameter_text(param: m.Param) -> str:
    facts = [param.unit] if param.unit and not calls.is_boolean(param) else []
    if param.role == "sequence":
        facts.append("from 0 to the number of sequences - 1" + (", or `SEQ_ALL`" if param.all_sequences else ""))
    if not calls.is_boolean(param):
        facts += describe.value_facts(param)
    return f"{param.doc} ({'; '.join(facts)})" if facts else param.doc


def error_variant(status: str) -> str:
    """`ERROR_UNSUPPORTED` -> `Unsupported`."""
    return pascal(status.removeprefix("ERROR_"))
