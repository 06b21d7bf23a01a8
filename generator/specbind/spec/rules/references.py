"""Names that must be declared somewhere: types, functions, statuses, groups, lengths, and names in documentation."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.spec import crossref
from specbind.spec import model as m
from specbind.spec.build import SECTIONS
from specbind.spec.build import names as names_of
from specbind.spec.diagnostics import Place, near
from specbind.spec.rules.context import Context, Fault, Item, called, listing
from specbind.spec.source import Leaf, Map, Node, Seq

Owner = m.Function | m.Callback | m.Struct | m.Enum | m.Handle | m.ForeignType | m.Constant | m.Group

TYPES_OF_SPEC = ("enum", "struct", "handle", "foreign", "callback")

# Types that people write and the ABI has no place for -> why not, and what to write.
FORBIDDEN = {
    "bool": ("its size differs between languages", "i32 with min 0 and max 1"),
    "int": ("its width is the compiler's choice", "i32"),
    "unsigned": ("its width is the compiler's choice", "u32"),
    "short": ("its width is the compiler's choice", "i16"),
    "long": ("its width differs between platforms", "i64"),
    "char": ("its sign differs between platforms", "i8, u8, or str for text"),
    "float": ("the language names numbers by their width", "f32"),
    "double": ("the language names numbers by their width", "f64"),
    "size_t": ("the language has its own word", "size"),
    "string": ("the language has its own word", "str"),
    "void": ("it is no value", "pointer for a callback's user pointer"),
    **{
        f"{prefix}int{bits}_t": ("the language has its own word", f"{'u' if prefix else 'i'}{bits}")
        for prefix in ("", "u")
        for bits in (8, 16, 32, 64)
    },
}  # fmt: skip


def used_types(ctx: Context) -> Iterator[tuple[Item, str, str, str]]:
    """Every mention of a type: item, key, name as written, and what mentions it."""
    for owner, part in ctx.parts():
        yield part, "type", ctx.written(part, "type"), called(part, owner)
    for item in ctx.signatures:
        if (returned := ctx.written(item, "returns")) not in (None, "void"):
            yield item, "returns", returned, f"the result of '{item.name}'"
    for constant in ctx.spec.constants:
        yield constant, "type", ctx.written(constant, "type"), f"constant '{constant.name}'"


def types(ctx: Context) -> Iterator[Fault]:
    known = dict.fromkeys([*m.SCALARS, "str", "pointer", *(n for k in TYPES_OF_SPEC for n in sorted(ctx.built.declared[k]))])
    for item, key, name, what in used_types(ctx):
        if name not in known and not forbidden(name):
            yield Fault(
                item, f"{what} has the unknown type '{name}'", key, None, f"one of {listing(list(known))}", near(name, known)
            )


def constant_types(ctx: Context) -> Iterator[Fault]:
    for constant in ctx.spec.constants:
        name = ctx.written(constant, "type")
        known = any(name in ctx.built.declared[kind] for kind in TYPES_OF_SPEC) or name in ("str", "pointer")
        if known and name not in m.SCALARS:
            message = f"constant '{constant.name}' has the type '{name}', which is no number"
            yield Fault(constant, message, "type", expected=f"one of {listing(list(m.SCALARS))}")


def forbidden_types(ctx: Context) -> Iterator[Fault]:
    declared = {n for kind in TYPES_OF_SPEC for n in ctx.built.declared[kind]}
    for item, key, name, what in used_types(ctx):
        if name not in declared and (found := forbidden(name)):
            yield Fault(item, f"{what} has the type '{name}', which the ABI forbids: {found[0]}", key, expected=found[1])


def forbidden(name: str) -> tuple[str, str] | None:
    """Why a type may not be used and what to use, None if it is simply unknown."""
    if name.rstrip().endswith("*"):
        return "pointers come from `direction`, `array` and `pointer`", "the type that is pointed to, or str for text"
    words = [w for w in name.split() if w not in ("const", "signed", "struct", "enum")]
    return FORBIDDEN.get(words[0]) if words else None


def functions(ctx: Context) -> Iterator[Fault]:
    known = sorted(ctx.built.declared["function"])
    wanted: list[tuple[Item, str, str | None, str]] = []
    for handle in ctx.spec.handles:
        wanted.append((handle, "release", handle.release, f"handle '{handle.name}'"))
        wanted.append((handle, "last_error", handle.last_error, f"handle '{handle.name}'"))
    wanted += [(s, "init", s.init, f"struct '{s.name}'") for s in ctx.spec.structs]
    wanted += [(step, "call", step.call, f"the round of group '{g.name}'") for g in ctx.spec.groups for step in g.round]
    for item, key, name, what in wanted:
        if name is not None and name not in known:
            message = f"'{key}' of {what} names the function '{name}', which does not exist"
            yield Fault(item, message, key, None, "the name of a function in this file", near(name, known))


def statuses(ctx: Context) -> Iterator[Fault]:
    if ctx.status is None:
        return
    known = [v.name for v in ctx.status.values]
    for function in ctx.spec.functions:
        for key, names in (("results", function.results), ("errors", function.errors)):
            for name in dict.fromkeys(names):
                if name not in known:
                    message = f"'{key}' of function '{function.name}' lists '{name}', which is not a status"
                    yield Fault(function, message, key, name, f"a value of enum '{ctx.status.name}'", near(name, known))


def groups(ctx: Context) -> Iterator[Fault]:
    known = [g.name for g in ctx.spec.groups]
    for function in ctx.spec.functions:
        if not ctx.declares("group", function.group):
            message = f"function '{function.name}' is in the unknown group '{function.group}'"
            yield Fault(function, message, "group", None, f"one of {listing(known)}", near(function.group, known))


def lengths(ctx: Context) -> Iterator[Fault]:
    for owner, part in ctx.parts():
        siblings = [p.name for p in (owner.fields if isinstance(owner, m.Struct) else owner.params) if p.name != part.name]
        for key, name in (("array", part.array), ("count", part.count if isinstance(part, m.Param) else None)):
            if name is not None and name not in siblings:
                kind = "field of the struct" if isinstance(part, m.Field) else "parameter of the function"
                message = f"'{key}' of {called(part, owner)} names '{name}', which is not another {kind}"
                yield Fault(part, message, key, None, f"one of {listing(siblings)}", near(name, siblings))


def documentation(ctx: Context) -> Iterator[Fault]:
    broken = set(broken_names(ctx))
    known = {*ctx.spec.terms, *(f.release for f in ctx.spec.foreign), *m.SCALARS, "str", "pointer", *broken}
    references = crossref.CrossReferences(ctx.spec)
    for scope, leaf in documents(ctx):
        text = str(leaf.value)
        for match in crossref.mentions(text):
            name = match[1]
            if name in known or name.split(".")[0] in broken or references.resolve(scope, name):
                continue
            suggestion = near(name, [*ctx.spec.terms, *references.visible(scope)])
            yield Fault(
                None,
                f"the documentation refers to '{name}', which nothing here is called",
                expected="a name of this spec, a name in the library's 'terms', or double backticks around other code",
                suggestion=suggestion,
                place=mention_place(ctx, leaf, match[0], text[: match.start()]),
            )


def broken_names(ctx: Context) -> Iterator[str]:
    """Names of items that could not be made into the model, and of their parts."""
    whole = {id(node) for node in ctx.built.nodes.values()}
    for section in SECTIONS:
        items = ctx.root.get(section)
        for item in items.items if isinstance(items, Seq) else ():
            if isinstance(item, Map) and id(item) not in whole:
                yield from names_of(Seq([item], item.start))
                for key in ("params", "fields", "values"):
                    yield from names_of(item.get(key))


def documents(ctx: Context) -> Iterator[tuple[crossref.Scope, Leaf]]:
    """Every documentation text, and the item whose names it may use."""
    spec = ctx.spec
    yield from ((spec, leaf) for leaf in doc_leaves(ctx.root.entries["library"][1]))
    owners: tuple[Owner, ...] = (
        *spec.groups, *spec.constants, *spec.foreign, *spec.handles, *spec.enums, *spec.callbacks, *spec.structs, *spec.functions,
    )  # fmt: skip
    for owner in owners:
        for item in (owner, *crossref.parts(owner)):
            yield from ((owner, leaf) for leaf in doc_leaves(ctx.node(item)))
    for group in spec.groups:
        for step in group.round:
            yield from ((ctx.function(step.call) or group, leaf) for leaf in doc_leaves(ctx.node(step)))


def doc_leaves(node: Node) -> Iterator[Leaf]:
    """The texts of `doc` and of `note` in `deprecated`."""
    if isinstance(node, Map):
        deprecated = node.get("deprecated")
        note = deprecated.get("note") if isinstance(deprecated, Map) else None
        yield from (leaf for leaf in (node.get("doc"), note) if isinstance(leaf, Leaf) and isinstance(leaf.value, str))


def mention_place(ctx: Context, leaf: Leaf, mention: str, before: str) -> Place:
    """Place of a mention: the occurrence in the file's text that has as many of its kind before it."""
    index = leaf.start
    for _ in range(before.count(mention)):
        index = ctx.source.text.find(mention, index, leaf.end) + len(mention)
    index = ctx.source.text.find(mention, index, leaf.end)
    return ctx.source.at(index, len(mention)) if index >= leaf.start else ctx.source.place(leaf)
