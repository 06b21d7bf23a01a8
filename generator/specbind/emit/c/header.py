"""Renders the public header, in the style of llama.h: a comment above each declaration, types and names in columns."""

from __future__ import annotations

from typing import Any

from specbind.emit import describe
from specbind.emit.c import literals
from specbind.emit.c.naming import CNaming
from specbind.emit.c.text import WIDTH, columns, comment, paragraphs
from specbind.spec import model as m

INDENT = 4  # of declarations, inside extern "C"


def header_values(spec: m.Spec) -> dict[str, Any]:
    """Values for `header.h.jinja`."""
    naming = CNaming(spec)
    major, minor, patch = spec.version.split(".")
    return {
        "doc": comment(spec.doc),
        "guard": naming.macro("H"),
        "macro": naming.macro_prefix,
        "api": naming.export_macro,
        "build_macro": naming.macro("BUILD"),
        "deprecated_macro": naming.macro("DEPRECATED") if any(f.deprecated for f in spec.functions) else None,
        "version": {"major": major, "minor": minor, "patch": patch},
        "foreign": [
            {"comment": comment(f"{f.doc} Declared in {f.header}.", INDENT), "line": f"struct {f.name};"} for f in spec.foreign
        ],
        "handles": [
            {
                "comment": comment(f"{h.doc}\nReleased with {naming.function(h.release)}.", INDENT),
                "line": f"typedef struct {h.c_name} {h.c_name};",
            }
            for h in spec.handles
        ],
        "constants": [
            {"comment": comment(c.doc), "line": line}
            for c, line in zip(spec.constants, constant_lines(spec, naming), strict=True)
        ],
        "enums": [enum_values(naming, e) for e in spec.enums],
        "forward": [f"typedef struct {naming.struct(s.name)} {naming.struct(s.name)};" for s in spec.structs],
        "callbacks": [callback_values(spec, naming, c) for c in spec.callbacks],
        "structs": [struct_values(naming, s) for s in spec.structs],
        "groups": [
            {"title": g.title, "doc": comment(g.doc, INDENT), "functions": functions}
            for g in spec.groups
            if (functions := [function_values(spec, naming, f) for f in spec.functions_of(g.name)])
        ],
    }


def constant_lines(spec: m.Spec, naming: CNaming) -> list[str]:
    return columns(("#define", naming.constant(c), f"({literals.literal(c.type, c.value)})") for c in spec.constants)


def enum_values(naming: CNaming, enum: m.Enum) -> dict[str, Any]:
    rows = [(naming.enum_value(enum, v), f"= {v.value},") for v in enum.values]
    note = "Flags: values are combined with |." if enum.flags else ""
    return {
        "comment": comment(f"{enum.doc}\n{note}", INDENT),
        "name": naming.enum(enum.name),
        "lines": annotate(columns(rows), [deprecation(v.deprecated, v.doc) for v in enum.values], INDENT + 4),
    }


def struct_values(naming: CNaming, struct: m.Struct) -> dict[str, Any]:
    rows = [(naming.field_type(f), f"{f.name};") for f in struct.fields]
    doc = struct.doc
    if struct.init:
        doc += f"\nFill it with {naming.function(struct.init)} first."
    return {
        "comment": comment(doc, INDENT),
        "name": naming.struct(struct.name),
        "lines": annotate(columns(rows), [field_text(naming, struct, f) for f in struct.fields], INDENT + 4),
    }


def field_text(naming: CNaming, struct: m.Struct, field: m.Field) -> str:
    if field.is_struct_size:
        return field.doc or f"sizeof({naming.struct(struct.name)}), set by the caller"
    return deprecation(field.deprecated, with_facts(field.doc, describe.field_facts(field)))


def callback_values(spec: m.Spec, naming: CNaming, callback: m.Callback) -> dict[str, Any]:
    head = f"typedef {naming.return_type(callback)} (*{naming.callback(callback.name)})("
    thread = "Called on the thread of the call that it was given to." if callback.thread == "caller" else "Called on any thread."
    return {
        "comment": [
            *comment(callback.doc, INDENT),
            "//",
            *parameter_comments(spec, naming, callback),
            "//",
            *comment(f"{thread} Needed until: {callback.lifetime}. It must not throw.", INDENT),
        ],
        "lines": signature_lines(naming, head, callback.params),
    }


def function_values(spec: m.Spec, naming: CNaming, function: m.Function) -> dict[str, Any]:
    head = f"{naming.export_macro} {naming.return_type(function)} {naming.function(function.name)}("
    lines = comment(deprecation(function.deprecated, function.doc), INDENT)
    parameters = parameter_comments(spec, naming, function)
    returns = returns_text(spec, function)
    if parameters or returns:
        lines += ["//"]
    lines += parameters
    if returns:
        lines += comment(returns, INDENT)
    if function.threads == "any":
        lines += comment("May be called from any thread.", INDENT)
    return {
        "comment": lines,
        "lines": signature_lines(naming, head, function.params),
        "deprecated": literals.string(function.deprecated) if function.deprecated else None,
    }


def parameter_comments(spec: m.Spec, naming: CNaming, item: m.Function | m.Callback) -> list[str]:
    """One aligned line per parameter; continued lines stay in the text's column."""
    if not item.params:
        return []
    width = max(len(p.name) for p in item.params)
    lines = []
    for p in item.params:
        doc = p.doc or default_doc(p)
        text = with_facts(doc, describe.parameter_facts(spec, item, p))
        body = paragraphs(text, WIDTH - INDENT - len("//   ") - width - 2)
        for i, line in enumerate(body):
            lines.append(f"//   {p.name if i == 0 else '':{width}}  {line}".rstrip())
    return lines


def default_doc(param: m.Param) -> str:
    """Text for a parameter that needs none: the object itself."""
    return f"The {param.type.name}." if isinstance(param.type, m.Ref) else ""


def returns_text(spec: m.Spec, function: m.Function) -> str:
    if function.returns is None:
        return ""
    if function.returns == m.Ref("enum", spec.status.name):
        text = "Returns " + " or ".join(filter(None, [", ".join(["OK", *function.results[:-1]]), *function.results[-1:]]))
        return text + ("; errors: " + ", ".join(function.errors) if function.errors else "") + "."
    if function.returns_lifetime:
        return f"The result is borrowed: {describe.valid(function.returns_lifetime)}."
    return ""


def signature_lines(naming: CNaming, head: str, params: tuple[m.Param, ...]) -> list[str]:
    """One line if it is short, else one parameter per line with types flush right, as in llama.h."""
    pairs = [(naming.parameter_type(p), p.name) for p in params]
    one = head + (", ".join(f"{t} {n}" for t, n in pairs) or "void") + ");"
    if len(pairs) < 2:
        return [one]
    split = [(t.rstrip("* "), t[len(t.rstrip("* ")) :].strip(), n) for t, n in pairs]
    type_width = max(len(t) for t, _, _ in split)
    star_width = max(len(s) for _, s, _ in split)
    lines = [head]
    for i, (base, stars, name) in enumerate(split):
        end = "," if i + 1 < len(split) else ");"
        gap = f" {stars:{star_width}} " if star_width else " "
        lines.append(f"        {base:>{type_width}}{gap}{name}{end}")
    return lines


def annotate(code: list[str], texts: list[str], indent: int) -> list[str]:
    """Trailing comments in one column, wrapped below themselves."""
    column = max(len(line) for line in code)
    lines = []
    for line, text in zip(code, texts, strict=True):
        body = paragraphs(text, WIDTH - indent - column - len(" // ")) or [""]
        for i, part in enumerate(body):
            lines.append(f"{line if i == 0 else '':{column}} // {part}".rstrip() if part else line)
    return lines


def with_facts(doc: str, facts: list[str]) -> str:
    return f"{doc} [{'; '.join(facts)}]".strip() if facts else doc


def deprecation(deprecated: str | None, doc: str) -> str:
    return f"Deprecated: {deprecated} {doc}" if deprecated else doc
