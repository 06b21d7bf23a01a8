"""A released ABI as a file: everything a comparison needs and nothing else, so that a review of it is a review of the ABI.

It is the language of the spec without documentation, one field or parameter a line and items sorted by name, so that
moving or describing an item changes no byte. It is read by what reads specs, so a finding can point into it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

from specbind.diff.errors import DiffError
from specbind.layout.signature import spec_hash
from specbind.spec import model as m
from specbind.spec.source import Leaf, Map, Source, read, resolve

NAME = re.compile(r"(\d+)\.(\d+)\.(\d+)\.yaml")
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
YAML_1_1 = frozenset("y n yes no on off".split())  # words that older readers take for booleans

Row = dict[str, Any]


def newest(folder: Path) -> Path | None:
    """The baseline of the highest version in a folder, None if there is none."""
    found = [(tuple(map(int, name.groups())), path) for path in folder.glob("*.yaml") if (name := NAME.fullmatch(path.name))]
    return max(found)[1] if found else None


def load(source: Source) -> tuple[m.Spec, str]:
    """The ABI in a baseline, and its hash."""
    from specbind.spec.build import build

    root, found = read(source)
    if found:
        from specbind.spec.diagnostics import SpecError

        raise SpecError(found)
    try:
        assert isinstance(root, Map)
        stated = root.entries["hash"][1]
        assert isinstance(stated, Leaf)
        return build(root, source, set()).spec, str(stated.value)
    except (AssertionError, KeyError, TypeError, AttributeError) as error:
        raise DiffError(
            f"{source.file} is not whole: write it anew with `specbind baseline` from the spec of its version."
        ) from error


# --- writing ---


def dump(spec: m.Spec) -> str:
    """The baseline of a spec, as text."""
    library = {"name": spec.name, "prefix": spec.prefix, "version": spec.version, "since": spec.since}
    lines = [
        f"# ABI {spec.version} of {spec.name}, written by `specbind baseline`. It is what was released: never change it.",
        "baseline: 1",
        f"hash: {text(spec_hash(spec))}",
        f"library: {flow(library)}",
    ]
    status = next((enum.name for enum in spec.enums if enum.role == "status"), None)
    for name, items in (
        ("constants", map(constant, by_name(spec.constants))),
        ("foreign", map(foreign, by_name(spec.foreign))),
        ("handles", map(handle, by_name(spec.handles))),
        ("enums", map(enum, by_name(spec.enums))),
        ("callbacks", map(callback, by_name(spec.callbacks))),
        ("structs", map(struct, by_name(spec.structs))),
        ("functions", (function(f, status) for f in by_name(spec.functions))),
    ):
        lines += section(name, items)
    return "\n".join(lines) + "\n"


def by_name(items: Iterable[Any]) -> list[Any]:
    return sorted(items, key=attrgetter("name"))


def section(name: str, items: Iterable[Row]) -> Iterator[str]:
    """A list of items: an item on one line, its parts below it on a line each."""
    rows = list(items)
    yield f"{name}:" if rows else f"{name}: []"
    for row in rows:
        parts = next(
            (key for key, value in row.items() if isinstance(value, list) and key in ("values", "fields", "params")), None
        )
        if parts is None:
            yield f"  - {flow(row)}"
            continue
        own = [f"{key}: {flow(value)}" for key, value in row.items() if key != parts]
        yield f"  - {own[0]}"
        yield from (f"    {line}" for line in own[1:])
        yield f"    {parts}:" if row[parts] else f"    {parts}: []"
        yield from (f"      - {flow(part)}" for part in row[parts])


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else text(value)


def text(value: str) -> str:
    """A string, in quotes unless every reader of YAML takes it for one."""
    if PLAIN.fullmatch(value) and isinstance(resolve(value), str) and value.lower() not in YAML_1_1:
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)


def row(**values: Any) -> Row:
    """A mapping without what the language takes for granted."""
    return {key: value for key, value in values.items() if value is not None and value is not False and value != ()}


def deprecation(item: Any) -> Row | None:
    return None if item.deprecated is None else {"since": item.deprecated_since, "note": item.deprecated}


def constant(c: m.Constant) -> Row:
    return row(name=c.name, type=c.type.name, value=c.value)


def foreign(f: m.ForeignType) -> Row:
    return row(name=f.name, header=f.header, release=f.release)


def handle(h: m.Handle) -> Row:
    return row(name=h.name, c_name=h.c_name, release=h.release, threads=h.threads, last_error=h.last_error)


def enum(e: m.Enum) -> Row:
    values = [row(name=v.name, value=v.value, deprecated=deprecation(v)) for v in e.values]
    return row(name=e.name, prefix=e.prefix, role=e.role, flags=e.flags, values=values)


def callback(c: m.Callback) -> Row:
    returns = None if c.returns is None else c.returns.name
    return row(name=c.name, returns=returns, thread=c.thread, lifetime=c.lifetime, params=list(map(param, c.params)))


def struct(s: m.Struct) -> Row:
    return {"name": s.name, "growable": s.growable} | row(
        init=s.init, deprecated=deprecation(s), fields=list(map(field, s.fields))
    )


def field(f: m.Field) -> Row:
    return row(
        name=f.name, type=f.type.name, array=f.array, nullable=f.nullable, role=f.role, default=f.default, min=f.min, max=f.max,
        unit=f.unit, lifetime=f.lifetime, deprecated=deprecation(f),
    )  # fmt: skip


def param(p: m.Param) -> Row:
    return row(
        name=p.name, type=p.type.name, direction=None if p.direction == "in" else p.direction,
        pointer=p.passing is m.Passing.ADDRESS_OUT, array=p.array, count=p.count, nullable=p.nullable, role=p.role, which=p.which,
        all=p.all_sequences, ownership=p.ownership, default=p.default, min=p.min, max=p.max, unit=p.unit, lifetime=p.lifetime,
    )  # fmt: skip


def function(f: m.Function, status: str | None) -> Row:
    returns = "void" if f.returns is None else f.returns.name
    return row(
        name=f.name, returns=None if returns == status else returns, returns_lifetime=f.returns_lifetime,
        threads=None if f.threads == "one" else f.threads, results=sorted(f.results) or None, errors=sorted(f.errors) or None,
        deprecated=deprecation(f), params=list(map(param, f.params)),
    )  # fmt: skip
