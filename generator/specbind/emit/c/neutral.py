"""Renders `abi.h` and `impl.h`: what the hand-written C++ sees of the ABI."""

from __future__ import annotations

from typing import Any

from specbind.emit.c import implementation, literals
from specbind.emit.c.naming import CNaming, neutral_value
from specbind.emit.c.text import columns
from specbind.spec import model as m


def abi_values(spec: m.Spec, spec_hash: str) -> dict[str, Any]:
    """Values for `abi.h.jinja`."""
    naming = CNaming(spec)
    return {
        "header": naming.header,
        "library": literals.string(naming.library),
        "prefix": literals.string(naming.prefix),
        "spec_hash": literals.string(spec_hash),
        "version": naming.macro("VERSION"),
        "version_name": literals.string(spec.version),
        "constants": [
            {
                "title": "Constants",
                "lines": columns(
                    (f"constexpr {c.type.c_name}", c.name, f"= {literals.literal(c.type, c.value)};") for c in spec.constants
                ),
            },
            *(
                {
                    "title": f"{e.name}: {first_sentence(e.doc)}",
                    "lines": columns(("constexpr int32_t", neutral_value(e, v), f"= {v.value};") for v in e.values),
                }
                for e in spec.enums
            ),
        ],
        "types": [
            {"title": title, "lines": columns(("using", name, f"= ::{c_name};") for name, c_name in pairs)}
            for title, pairs in (
                ("Enums", [(e.name, naming.enum(e.name)) for e in spec.enums]),
                ("Structs", [(s.name, naming.struct(s.name)) for s in spec.structs]),
                ("Callbacks", [(c.name, naming.callback(c.name)) for c in spec.callbacks]),
                ("Handles as C sees them", [(f"{h.name}_handle", naming.handle(h.name)) for h in spec.handles]),
            )
            if pairs
        ],
        "status_cases": columns((f"case {v.name}:", f'return "{v.name}";') for v in spec.status.values),
        "defaults": [
            {"name": s.name, "lines": default_lines(s)} for s in spec.structs if s.init
        ],
    }


def default_lines(struct: m.Struct) -> list[str]:
    """Assignments of every default that zeroing does not give."""
    rows = [("p.struct_size", f"= sizeof({struct.name});")] if struct.growable else []
    rows += [
        (f"p.{f.name}", f"= {literals.literal(f.type, f.default)};") for f in struct.fields if f.default not in (None, 0, 0.0)
    ]
    return columns(rows)


def impl_values(spec: m.Spec) -> dict[str, Any]:
    """Values for `impl.h.jinja`."""
    naming = implementation.ImplNaming(spec)
    groups = []
    for group in spec.groups:
        functions = implementation.handwritten(spec.functions_of(group.name), spec)
        if functions:
            groups.append({"title": group.title, "lines": [declaration(naming, f) for f in functions]})
    return {
        "foreign": [f"struct {f.name};" for f in spec.foreign],
        "handles": [f"struct {h.name};" for h in spec.handles],
        "groups": groups,
    }


def declaration(naming: CNaming, function: m.Function) -> str:
    params = ", ".join(declarator(naming.parameter_type(p), p.name) for p in function.params)
    return f"{declarator(naming.return_type(function), function.name)}({params});"


def declarator(c_type: str, name: str) -> str:
    """`const float ** row`, `int32_t n`: type and name with the stars apart from both, as in llama.h."""
    return f"{c_type} {name}"


def first_sentence(doc: str) -> str:
    text = " ".join(doc.split())
    return text.split(". ")[0].rstrip(".")
