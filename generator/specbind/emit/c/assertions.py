"""The header's own check: size and offsets of every struct, per width of a pointer."""

from __future__ import annotations

from typing import Any

from specbind.emit.c.naming import CNaming
from specbind.emit.core import NotExpressible
from specbind.layout.engine import StructLayout, compute
from specbind.layout.targets import TARGETS
from specbind.spec import model as m

MAX = {4: "0xFFFFFFFF", 8: "0xFFFFFFFFFFFFFFFF"}


def assertion_values(spec: m.Spec) -> dict[str, Any]:
    """Values for the end of `header.h.jinja`."""
    naming = CNaming(spec)
    return {
        "no_checks": naming.macro("NO_LAYOUT_CHECKS"),
        "check": naming.macro("CHECK"),
        "check_name": f"{spec.prefix}layout_check",
        "layout_checks": [{"max": MAX[width], "lines": conditions(naming, layouts)} for width, layouts in by_width(spec).items()],
    }


def by_width(spec: m.Spec) -> dict[int, dict[str, StructLayout]]:
    """Layout by pointer width. Targets of one width agree, because no struct has padding on any of them."""
    found: dict[int, dict[str, StructLayout]] = {}
    for target in sorted(TARGETS.values(), key=lambda t: -t.pointer):
        layouts = compute(spec, target)
        known = found.setdefault(target.pointer, layouts)
        for name, layout in layouts.items():
            if offsets(layout) != offsets(known[name]):
                raise NotExpressible(f"struct '{name}' is laid out differently on two targets with {target.pointer}-byte pointers")
    return found


def offsets(layout: StructLayout) -> tuple[int, tuple[int, ...]]:
    return layout.size, tuple(f.offset for f in layout.fields)


def conditions(naming: CNaming, layouts: dict[str, StructLayout]) -> list[str]:
    lines = []
    for name, layout in layouts.items():
        c_name = naming.struct(name)
        lines.append(f"sizeof({c_name}) == {layout.size}")
        lines += [f"offsetof({c_name}, {f.name}) == {f.offset}" for f in layout.fields]
    return lines
