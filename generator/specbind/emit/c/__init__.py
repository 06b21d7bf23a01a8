"""The C back end: the public header, the shim's entry points and what keeps both honest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from specbind.emit.c.naming import RESERVED
from specbind.emit.core import FileMap, Gap, Name
from specbind.spec import model as m


class CBackend:
    name = "c"
    title = "C header and shim"
    folders = ("native/include", "native/generated")
    reserved = RESERVED
    unsupported: Mapping[str, str] = MappingProxyType({})
    layers = "header, entry points, identity table, export lists"

    def render(self, spec: m.Spec) -> FileMap:
        from specbind.emit.c.package import render

        return render(spec)

    def names(self, spec: m.Spec) -> Iterator[Name]:
        from specbind.emit.c.names import names

        return names(spec)

    def gaps(self, spec: m.Spec, files: FileMap) -> Iterator[Gap]:
        yield Gap("not built here", "`exports.def` and `exports.txt`", "Linkers of Windows and macOS read them; the tests link on Linux.")


backend = CBackend()
