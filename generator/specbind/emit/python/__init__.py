"""The Python back end: a cffi package with a raw layer that mirrors the ABI and a safe one for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from specbind.emit.core import FileMap, Gap, Name
from specbind.emit.python.naming import RESERVED
from specbind.spec import model as m


class PythonBackend:
    name = "python"
    title = "Python"
    folders = ("bindings_out/python",)
    reserved = RESERVED
    unsupported: Mapping[str, str] = MappingProxyType({})
    layers = "raw and safe"

    def render(self, spec: m.Spec) -> FileMap:
        from specbind.emit.python.package import render

        return render(spec)

    def names(self, spec: m.Spec) -> Iterator[Name]:
        from specbind.emit.python.names import names

        return names(spec)

    def gaps(self, spec: m.Spec, files: FileMap) -> Iterator[Gap]:
        from specbind.emit.python.package import raw_only

        if names := ", ".join(f"`{function.name}`" for function in raw_only(spec, files)):
            yield Gap("only in the raw layer", names, "Call them with `Library.function(name)`.")


backend = PythonBackend()
