"""YAML text to the model of `specbind.spec.model`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from specbind.spec import model as m


def load(path: Path) -> m.Spec:
    """Read a spec file."""
    return build(yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), str(path))


def build(raw: dict[str, Any], source: str) -> m.Spec:
    library = raw["library"]
    since = library["since"]
    kinds = {
        item["name"]: kind
        for kind, key in (
            ("enum", "enums"),
            ("struct", "structs"),
            ("handle", "handles"),
            ("foreign", "foreign"),
            ("callback", "callbacks"),
        )
        for item in raw.get(key, ())
    }

    def type_of(name: str) -> m.Type:
        if name in m.SCALARS:
            return m.SCALARS[name]
        if name == "str":
            return m.Str()
        if name == "pointer":
            return m.Pointer()
        return m.Ref(kinds[name], name)

    def result_type(item: dict[str, Any], default: str) -> m.Type | None:
        name = item.get("returns", default)
        return None if name == "void" else type_of(name)

    def param(p: dict[str, Any]) -> m.Param:
        kind = type_of(p["type"])
        direction = p.get("direction", "in")
        return m.Param(
            name=p["name"], type=kind, passing=passing(kind, direction, p), doc=p.get("doc", "").strip(), direction=direction,
            nullable=p.get("nullable", False), default=p.get("default"), min=p.get("min"), max=p.get("max"), unit=p.get("unit"),
            array=p.get("array"), count=p.get("count"), role=p.get("role"), all_sequences=p.get("all", False),
            ownership=p.get("ownership"), lifetime=p.get("lifetime"),
        )  # fmt: skip

    status = next(e["name"] for e in raw["enums"] if e.get("role") == "status")
    return m.Spec(
        name=library["name"], prefix=library["prefix"], version=library["version"], doc=library["doc"].strip(),
        groups=tuple(m.Group(g["name"], g["title"], g["doc"]) for g in raw["groups"]),
        constants=tuple(m.Constant(c["name"], m.SCALARS[c["type"]], c["value"], c["doc"]) for c in raw["constants"]),
        foreign=tuple(m.ForeignType(f["name"], f["header"], f["doc"], f.get("release")) for f in raw["foreign"]),
        handles=tuple(
            m.Handle(h["name"], h["c_name"], h["release"], h.get("threads", "one"), h.get("last_error"), h["doc"].strip())
            for h in raw["handles"]
        ),
        enums=tuple(
            m.Enum(
                e["name"],
                tuple(m.EnumValue(v["name"], v["value"], v["doc"], v.get("since", since), v.get("deprecated")) for v in e["values"]),
                e["doc"].strip(), e.get("since", since), e.get("prefix", e["name"] + "_"), e.get("flags", False), e.get("role"),
            )
            for e in raw["enums"]
        ),
        callbacks=tuple(
            m.Callback(
                c["name"], tuple(param(p) for p in c["params"]), result_type(c, "void"), c["doc"], c.get("since", since),
                c["thread"], c["lifetime"],
            )
            for c in raw["callbacks"]
        ),
        structs=tuple(
            m.Struct(
                s["name"],
                tuple(
                    m.Field(
                        name=f["name"], type=type_of(f["type"]), doc=f.get("doc", "").strip(), since=f.get("since", since),
                        default=f.get("default"), min=f.get("min"), max=f.get("max"), unit=f.get("unit"), array=f.get("array"),
                        nullable=f.get("nullable", False), role=f.get("role"), lifetime=f.get("lifetime"), deprecated=f.get("deprecated"),
                    )
                    for f in s["fields"]
                ),
                s["doc"].strip(), s.get("since", since), s["growable"], s.get("init"), s.get("deprecated"),
            )
            for s in raw["structs"]
        ),
        functions=tuple(
            m.Function(
                f["name"], f["group"], tuple(param(p) for p in f["params"]), result_type(f, status), f["doc"].strip(),
                f.get("since", since), tuple(f.get("results", ())), tuple(f.get("errors", ())), f.get("returns_lifetime"),
                f.get("threads", "one"), f.get("raw", False), f.get("deprecated"),
            )
            for f in raw["functions"]
        ),
        source=source,
    )  # fmt: skip


def passing(kind: m.Type, direction: str, p: dict[str, Any]) -> m.Passing:
    """How a parameter of this type and direction crosses the boundary."""
    if "array" in p:
        return m.Passing.ARRAY_OUT if direction == "out" else m.Passing.ARRAY_IN
    if p.get("pointer"):
        return m.Passing.ADDRESS_OUT
    if isinstance(kind, m.Ref) and kind.kind == "struct":
        return {
            "in": m.Passing.STRUCT_IN,
            "out": m.Passing.STRUCT_OUT,
            "inout": m.Passing.STRUCT_INOUT,
            "init": m.Passing.STRUCT_INIT,
        }[direction]
    if direction == "out":
        return m.Passing.OBJECT_OUT if isinstance(kind, m.Ref) and kind.kind in ("handle", "foreign") else m.Passing.SCALAR_OUT
    return m.Passing.VALUE
