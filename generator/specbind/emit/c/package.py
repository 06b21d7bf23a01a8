"""The files of the header and of the generated part of the shim."""

from __future__ import annotations

from pathlib import Path

from specbind.emit.c import assertions, entry_points, header, identity, neutral
from specbind.emit.c.naming import CNaming
from specbind.emit.core import FileMap, environment, notice
from specbind.layout.signature import spec_hash
from specbind.spec import model as m

TEMPLATES = Path(__file__).parent / "templates"


def header_text(spec: m.Spec) -> str:
    """The public header, which packages of other languages carry too."""
    values = {**header.header_values(spec), **assertions.assertion_values(spec)}
    text: str = environment(TEMPLATES).get_template("header.h.jinja").render(notice=notice(spec), **values)
    return text


def render(spec: m.Spec) -> FileMap:
    """All files of this target."""
    env = environment(TEMPLATES)
    files: FileMap = {}

    def add(path: str, template: str, values: dict[str, object]) -> None:
        files[path] = env.get_template(template).render(notice=notice(spec), **values)

    files[f"native/include/{CNaming(spec).header}"] = header_text(spec)
    add("native/generated/abi.h", "abi.h.jinja", neutral.abi_values(spec, spec_hash(spec)))
    add("native/generated/impl.h", "impl.h.jinja", neutral.impl_values(spec))
    add("native/generated/entry_points.cpp", "entry_points.cpp.jinja", entry_points.entry_values(spec))
    table, exports = identity.table_values(spec), identity.export_values(spec)
    for kind in ("h", "c"):
        add(f"native/generated/identity_table.{kind}", f"identity_table.{kind}.jinja", table)
    for kind in ("map", "txt", "def"):
        add(f"native/generated/exports.{kind}", f"exports.{kind}.jinja", exports)
    add("native/generated/version.cmake", "version.cmake.jinja", exports)
    return files
