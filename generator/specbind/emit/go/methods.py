"""The methods of the Go package: one for each function, with C's parameters put together again."""

from __future__ import annotations

from dataclasses import dataclass

from specbind.emit import calls, describe
from specbind.emit.core import NotExpressible
from specbind.emit.go.convert import Conversions, Given, Got
from specbind.emit.go.text import comment, named
from specbind.spec import model as m

P = m.Passing


@dataclass(frozen=True, slots=True)
class Method:
    """A method ready to be placed; body lines carry no indent of their block."""

    doc: list[str]
    head: str
    body: list[str]


def method(types: Conversions, call: calls.Call) -> Method:
    """The method behind `call`."""
    return Shape(types, call).method()


class Shape:
    """What goes into a method: receiver, result types, statements and the raw call."""

    def __init__(self, types: Conversions, call: calls.Call) -> None:
        self.types, self.call = types, call
        self.naming, self.function = types.naming, call.function
        self.on_object = call.receiver is not None
        self.any_thread = self.on_object and self.function.threads == "any"
        self.me = "o" if self.on_object else "l"
        self.buffer = next((o for o in call.outputs if o.param.passing is P.ARRAY_OUT), None)
        if self.buffer and (len(call.outputs) > 1 or call.function.results or not self.on_object):
            raise NotExpressible(f"{self.function.name}: a buffer and another result")
        if call.constructs and len(call.outputs) > 1:
            raise NotExpressible(f"{self.function.name}: an object and another output")
        library, guard = ("o.library", "o") if self.on_object else ("l", "l")
        self.got = [] if self.buffer or call.constructs else [types.got(o, library, guard) for o in call.outputs]
        self.results = self.result_types()
        self.zero = "".join(f"{zero}, " for zero in self.zeros())
        self.given = [types.given(call, i, self.zero) for i in call.inputs]

    def result_types(self) -> list[str]:
        """Types of the results but the error."""
        if self.call.constructs:
            return [f"*{self.object_type()}"]
        if self.buffer:
            element = self.types.raw.element(self.buffer.param.type)
            return ["[]byte" if element == "uint8" else f"[]{element}"]
        status = ["Status"] if self.function.results else []
        return [*(g.type for g in self.got), *status]

    def zeros(self) -> list[str]:
        if self.call.constructs or self.buffer:
            return ["nil"]
        return [*(g.zero for g in self.got), *(["0"] if self.function.results else [])]

    def object_type(self) -> str:
        assert self.call.handle is not None
        return self.naming.exported(self.call.handle.name)

    # parts

    def head(self) -> str:
        parameters = grouped([(self.naming.local(i.param.name), g.type) for i, g in zip(self.call.inputs, self.given, strict=True)])
        receiver = f"o *{self.object_type()}" if self.on_object else "l *Library"
        if not self.call.fallible:
            returned = self.function.returns
            type_ = "" if returned is None else " string" if isinstance(returned, m.Str) else f" {self.types.raw.value(returned)}"
        else:
            everything = [*self.results, "error"]
            type_ = " error" if len(everything) == 1 else f" ({', '.join(everything)})"
        return f"func ({receiver}) {self.naming.method(self.call)}({parameters}){type_} {{"

    def arguments(self) -> list[str]:
        things: dict[int, Given | Got] = {id(i): g for i, g in zip(self.call.inputs, self.given, strict=True)}
        things |= {id(o): g for o, g in zip(self.call.outputs, self.got, strict=False)}
        written = {calls.Part.VALUE: "&made" if self.call.constructs else "out", calls.Part.CAPACITY: "capacity", calls.Part.COUNT: "count"}

        def argument(place: calls.Argument) -> str:
            if place.part is calls.Part.SELF:
                return "pointer"
            thing = things.get(id(place.owner))
            if thing is None:
                return written[place.part]
            return thing.value if place.part is calls.Part.VALUE else thing.second

        return [argument(a) for a in self.call.arguments()]

    def raw_call(self) -> str:
        return f"{self.me}.{'library.' if self.on_object else ''}raw.{self.naming.exported(self.function.name)}({', '.join(self.arguments())})"

    def entry(self) -> list[str]:
        """Keeps the object alive and to itself, or the thread for the message that belongs to it."""
        if self.any_thread:
            return ["pointer, err := o.share()", "if err != nil {", f"\treturn {self.zero}err", "}", "defer o.unshare()"]
        if self.on_object:
            return ["pointer, err := o.enter()", "if err != nil {", f"\treturn {self.zero}err", "}", "defer o.leave()"]
        return ["runtime.LockOSThread()", "defer runtime.UnlockOSThread()"] if self.call.fallible else []

    def before(self) -> list[str]:
        lines = [line for g in self.given for line in g.before]
        if any(g.pins for g in self.given):
            lines = [f"pin := pins{{library: {'o.library' if self.on_object else 'l'}}}", "defer pin.release()", *lines]
        return lines + [line for g in self.got for line in g.before]

    def check(self) -> str:
        where = f'"{self.function.name}", status'
        if not self.on_object or self.any_thread:
            return f"{'o.library' if self.on_object else 'l'}.check({where})"
        sequence = self.call.sequence
        return f"o.check({where}, {self.naming.local(sequence.name) if sequence else 'noSequence'})"

    def foreign_check(self) -> list[str]:
        """Refuses before the call what could not be released afterwards."""
        lines: list[str] = []
        for output in self.call.outputs:
            kind = output.param.type
            if output.param.passing is P.OBJECT_OUT and isinstance(kind, m.Ref) and kind.kind == "foreign":
                release = self.types.spec.foreign_type(kind.name).release
                if release is None:
                    raise NotExpressible(f"{output.param.name}: an owned {kind.name} whose release function the spec does not name")
                lines += [
                    f"if !l.raw.Has{self.naming.exported(release)}() {{",
                    f'\treturn {self.zero}unsupported("{release} is out of the library\'s reach")',
                    "}",
                ]
        return lines

    # whole

    def method(self) -> Method:
        body = [*self.entry(), *self.foreign_check(), *self.before()]
        if not self.call.fallible:
            call = self.raw_call()
            returned = self.function.returns
            body.append(f"return raw.Text({call})" if isinstance(returned, m.Str) else f"return {call}" if returned is not None else call)
        elif self.buffer:
            element = self.types.raw.element(self.buffer.param.type)
            body += [
                f"status, found := collect(func(out *{element}, capacity uintptr, count *uintptr) Status {{",
                f"\treturn {self.raw_call()}",
                "})",
                f"if _, err := {self.check()}; err != nil {{",
                "\treturn nil, err",
                "}",
                "return found, nil",
            ]
        elif self.call.constructs:
            assert self.call.handle is not None
            contexts = [self.naming.local(i.param.name) for i in self.call.inputs if calls.is_kind(i.param.type, "foreign")]
            kept = "".join(f", {name}.owner" for name in contexts)
            body += [
                f"var made *raw.{self.object_type()}",
                f"status := {self.raw_call()}",
                f'return made{self.object_type()}(l, "{self.function.name}", status, made{kept})',
            ]
        else:
            body += [f"status := {self.raw_call()}", *self.returned()]
        return Method(method_doc(self.types, self.call), self.head(), body)

    def returned(self) -> list[str]:
        """Statements that turn the status and the outputs into results."""
        values = [g.result for g in self.got]
        if not values:
            return [f"return {self.check()}"] if self.function.results else [f"_, err {self.sign()} {self.check()}", "return err"]
        kept = [g for o, g in zip(self.call.outputs, self.got, strict=True) if o.param.passing is P.OBJECT_OUT]
        lines = []
        if kept:
            lines, values = [f"made := {kept[0].result}"], ["made"]
        if self.function.results:
            lines += [f"outcome, err {':='} {self.check()}", "if err != nil {", f"\treturn {self.zero}err", "}"]
            return [*lines, f"return {', '.join(values)}, outcome, nil"]
        return [*lines, f"if _, err := {self.check()}; err != nil {{", f"\treturn {self.zero}err", "}", f"return {', '.join(values)}, nil"]

    def sign(self) -> str:
        """`=` where `err` is already declared in the body."""
        declared = self.on_object or any("err :=" in line for line in self.before())
        return "=" if declared else ":="


def grouped(parameters: list[tuple[str, str]]) -> str:
    """`a, b int32, c string`: neighbours of one type share it."""
    parts = []
    for index, (name, type_) in enumerate(parameters):
        last = index + 1 == len(parameters) or parameters[index + 1][1] != type_
        parts.append(f"{name} {type_}" if last else name)
    return ", ".join(parts)


def method_doc(types: Conversions, call: calls.Call) -> list[str]:
    """Text, inputs and errors of a method."""
    naming, function = types.naming, call.function
    own = {p.name: naming.local(p.name) for p in function.params}
    text = types.prose(named(naming.method(call), function.doc, f"calls {naming.c.function(function.name)}"), own)
    if call.inputs:
        text += "\n\n" + "\n".join(f"- {naming.local(i.param.name)}: {types.prose(parameter_text(i.param), own)}" for i in call.inputs)
    errors = [v for v in types.spec.status.values if v.name in function.errors and not handled(v.name, call)]
    if errors:
        text += "\n\nErrors: " + ", ".join(f"[{naming.sentinel(v)}]" for v in errors) + "."
    if function.deprecated:
        text += f"\n\nDeprecated: {function.deprecated}"
    return comment(text)


def handled(error: str, call: calls.Call) -> bool:
    """Whether the method deals with an error itself."""
    return error == "ERROR_BUFFER_TOO_SMALL" and any(o.capacity for o in call.outputs)


def parameter_text(param: m.Param) -> str:
    facts = [param.unit] if param.unit and not calls.is_boolean(param) else []
    if param.role == "sequence":
        facts.append("from 0 to the number of sequences - 1" + (", or SeqAll" if param.all_sequences else ""))
    if not calls.is_boolean(param):
        facts += describe.value_facts(param)
    return f"{param.doc} ({'; '.join(facts)})" if facts else param.doc
