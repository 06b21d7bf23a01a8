"""What stands in the reference: tables over the whole ABI, and a section for each item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from specbind.emit import describe
from specbind.emit.c import header, literals
from specbind.emit.c.naming import CNaming
from specbind.emit.calls import is_kind, is_object
from specbind.layout.signature import spec_hash
from specbind.spec import crossref
from specbind.spec import model as m

P = m.Passing


class Page:
    """The page of one spec. Links go to the headings, which are the names in C."""

    def __init__(self, spec: m.Spec) -> None:
        self.spec = spec
        self.naming = CNaming(spec)
        self.references = crossref.CrossReferences(spec)
        self.users: dict[str, list[m.Function]] = {}  # struct -> functions that take it
        self.returning: dict[str, list[m.Function]] = {}  # status -> functions that return it
        for function in spec.functions:
            for name in dict.fromkeys(p.type.name for p in function.params if is_kind(p.type, "struct")):
                self.users.setdefault(name, []).append(function)
            for name in (*function.results, *function.errors):
                self.returning.setdefault(name, []).append(function)
        self.headings: dict[int, str] = {}  # id of an item or part -> name in C of the section that it is in
        for item, name in self.sections():
            self.headings |= {id(each): name for each in (item, *crossref.parts(item))}

    def sections(self) -> Iterator[tuple[Any, str]]:
        """Every item with a section of its own, and its name in C."""
        spec, naming = self.spec, self.naming
        yield from ((f, naming.function(f.name)) for f in spec.functions)
        yield from ((s, naming.struct(s.name)) for s in spec.structs)
        yield from ((e, naming.enum(e.name)) for e in spec.enums)
        yield from ((c, naming.callback(c.name)) for c in spec.callbacks)

    def values(self) -> dict[str, Any]:
        spec = self.spec
        return {
            "name": spec.name,
            "version": spec.version,
            "hash": spec_hash(spec),
            "header": self.naming.header,
            "doc": self.text(spec, spec.doc),
            "rounds": [self.round(g) for g in spec.groups if g.round],
            "owned": list(self.owned()),
            "borrowed": list(self.borrowed()),
            "statuses": [self.status(v) for v in spec.status.values],
            "constants": [
                {"name": self.naming.constant(c), "value": literals.literal(c.type, c.value), "doc": self.cell(c, c.doc)}
                for c in spec.constants
            ],
            "objects": [
                {"name": h.c_name, "doc": self.text(h, h.doc), "release": self.link(spec.function(h.release)), "threads": h.threads}
                for h in spec.handles
            ],
            "foreign": [
                {"name": f.name, "header": f.header, "doc": self.cell(f, f.doc), "release": f.release} for f in spec.foreign
            ],
            "enums": [self.enum(e) for e in spec.enums],
            "callbacks": [self.callback(c) for c in spec.callbacks],
            "structs": [self.struct(s) for s in spec.structs],
            "groups": [
                {"title": g.title, "doc": self.text(g, g.doc), "functions": [self.function(f) for f in spec.functions_of(g.name)]}
                for g in spec.groups
            ],
        }

    # --- text ---

    def link(self, item: Any, shown: str | None = None) -> str:
        """A link to the section that an item is in; only its name where it has none."""
        heading = self.headings.get(id(item))
        text = f"`{shown or item.name}`"
        return text if heading is None else f"[{text}](#{heading})"

    def text(self, scope: Any, doc: str) -> str:
        """Documentation whose cross references are links."""
        out, end = "", 0
        for match in crossref.mentions(doc):
            target = self.references.resolve(scope, match[1])
            out += doc[end : match.start()] + (match[0] if target is None else self.link(target, match[1]))
            end = match.end()
        return out + doc[end:]

    def cell(self, scope: Any, *parts: str) -> str:
        """Documentation in one line, as a table needs it."""
        return " ".join(self.text(scope, " ".join(" ".join(part.split()) for part in parts if part)).replace("|", "\\|").split())

    def type_link(self, kind: m.Type, shown: str) -> str:
        """A type in C, which links to its section if it has one."""
        item = self.references.everywhere.get(kind.name) if isinstance(kind, m.Ref) else None
        heading = self.headings.get(id(item))
        return f"`{shown}`" if heading is None else f"[`{shown}`](#{heading})"

    def functions(self, items: Iterable[m.Function]) -> str:
        return ", ".join(self.link(f) for f in items)

    # --- tables over everything ---

    def round(self, group: m.Group) -> dict[str, Any]:
        steps = []
        for step in group.round:
            function = self.spec.function(step.call) if step.call else None
            doc = self.cell(function or group, step.doc)
            steps.append(f"{self.link(function)}: {doc}" if function else doc)
        return {"title": group.title, "steps": steps}

    def owned(self) -> Iterator[dict[str, str]]:
        """Objects that a caller gets and has to release: from which function, and how each ends."""
        for function in self.spec.functions:
            for param in function.params:
                if param.passing is P.OBJECT_OUT:
                    yield {"what": f"`{param.name}` of {self.link(function)}", "ends": self.release(param.type)}

    def release(self, kind: m.Type) -> str:
        if is_kind(kind, "handle"):
            return self.link(self.spec.function(self.spec.handle(kind.name).release))
        release = self.spec.foreign_type(kind.name).release
        return f"`{release}` of `{self.spec.foreign_type(kind.name).header}`"

    def borrowed(self) -> Iterator[dict[str, str]]:
        """What only one side owns while the other uses it: objects and callbacks given, addresses and texts received."""
        for function in self.spec.functions:
            for param in function.params:
                what = f"`{param.name}` of {self.link(function)}"
                if param.ownership == "borrowed" and param.passing is P.VALUE:
                    yield self.loan(what, "the caller", param.lifetime or needed(function))
                elif is_kind(param.type, "callback"):
                    until = self.spec.callback(param.type.name).lifetime
                    yield self.loan(what, "the caller", param.lifetime or until)
                elif param.lifetime:
                    yield self.loan(what, "the library", param.lifetime)
            if function.returns_lifetime:
                yield self.loan(f"the result of {self.link(function)}", "the library", function.returns_lifetime)
        for struct in self.spec.structs:
            for until in dict.fromkeys(field.lifetime for field in struct.fields if field.lifetime):
                names = ", ".join(f"`{field.name}`" for field in struct.fields if field.lifetime == until)
                yield self.loan(f"{names} of {self.link(struct)}", "the library", until)

    def loan(self, what: str, owner: str, until: str) -> dict[str, str]:
        item = self.references.everywhere.get(until)
        return {"what": what, "owner": owner, "until": until if item is None else self.link(item)}

    def status(self, value: m.EnumValue) -> dict[str, Any]:
        able = [f for f in self.spec.functions if f.returns == m.Ref("enum", self.spec.status.name)]
        by = able if value.value == 0 else self.returning.get(value.name, [])
        known = {f.name for f in by}
        others = self.functions(f for f in able if f.name not in known)
        names = self.functions(by)
        if len(by) > len(able) // 2:
            names = "every function that returns a status" + (f", except {others}" if others else "")
        return {"name": value.name, "value": value.value, "doc": self.cell(self.spec.status, value.doc), "by": names or "none"}

    # --- items ---

    def enum(self, enum: m.Enum) -> dict[str, Any]:
        rows = [
            {"name": self.naming.enum_value(enum, v), "value": v.value, "doc": self.cell(enum, described(v))} for v in enum.values
        ]
        about = {"name": self.naming.enum(enum.name), "doc": self.text(enum, enum.doc), "flags": enum.flags}
        return about | {"values": rows} | self.age(enum)

    def struct(self, struct: m.Struct) -> dict[str, Any]:
        rows = [
            {
                "name": f.name,
                "type": self.type_link(f.type, self.naming.field_type(f)),
                "facts": ", ".join(describe.field_facts(f)),
                "doc": self.cell(struct, described(f) or "The size of the caller's struct, in bytes."),
                "since": f.since if f.since != struct.since else "",
            }
            for f in struct.fields
        ]
        init = self.link(self.spec.function(struct.init)) if struct.init else ""
        return {
            "name": self.naming.struct(struct.name),
            "doc": self.text(struct, described(struct)),
            "growable": struct.growable,
            "init": init,
            "fields": rows,
            "users": self.functions(self.users.get(struct.name, ())),
        } | self.age(struct)

    def callback(self, callback: m.Callback) -> dict[str, Any]:
        values = header.callback_values(self.spec, self.naming, callback)
        return {
            "name": self.naming.callback(callback.name),
            "declaration": values["lines"],
            "doc": self.text(callback, callback.doc),
            "params": self.params(callback),
            "thread": "the thread of the call that it was given to" if callback.thread == "caller" else "any thread",
            "lifetime": callback.lifetime,
        } | self.age(callback)

    def function(self, function: m.Function) -> dict[str, Any]:
        head = f"{self.naming.return_type(function)} {self.naming.function(function.name)}("
        status = self.spec.status
        plain = None if function.returns == m.Ref("enum", status.name) else function.returns
        listed = [v for v in status.values if v.name in (*function.results, *function.errors)]
        return {
            "name": self.naming.function(function.name),
            "declaration": header.signature_lines(self.naming, head, function.params),
            "doc": self.text(function, described(function)),
            "params": self.params(function),
            "statuses": ", ".join(f"[`{v.name}`](#{self.naming.enum(status.name)})" for v in listed),
            "lifetime": describe.valid(function.returns_lifetime) if function.returns_lifetime else "",
            "returns": "" if plain is None else self.type_link(plain, self.naming.type(plain)),
            "any_thread": function.threads == "any",
        } | self.age(function)

    def params(self, item: m.Function | m.Callback) -> list[dict[str, str]]:
        return [
            {
                "name": p.name,
                "type": self.type_link(p.type, self.naming.parameter_type(p)),
                "facts": ", ".join(describe.parameter_facts(self.spec, item, p)),
                "doc": self.cell(item, p.doc or header.default_doc(p)),
            }
            for p in item.params
        ]

    def age(self, item: Any) -> dict[str, str]:
        return {"since": item.since if item.since != self.spec.since else ""}


def needed(function: m.Function) -> str:
    """Until when a function needs an object that it borrows: it may keep it in what it makes, or in what it is called on."""
    if any(p.passing is P.OBJECT_OUT for p in function.params):
        return "what it makes is released"
    return "the object is released" if any(is_object(p) for p in function.params) else "it returns"


def described(item: m.Function | m.Struct | m.Field | m.EnumValue) -> str:
    """Documentation of an item, begun by what to use instead and since when, if it is deprecated."""
    if item.deprecated is None:
        return item.doc
    return f"**Deprecated since {item.deprecated_since}**: {item.deprecated} {item.doc}"
