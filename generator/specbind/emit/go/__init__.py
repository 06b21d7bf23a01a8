"""The Go back end: a package over a raw package, both cgo, with the library opened at run time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from specbind.emit.core import FileMap, Gap, Name
from specbind.emit.go.naming import RESERVED
from specbind.spec import model as m


class GoBackend:
    name = "go"
    title = "Go module"
    folders = ("bindings_out/go",)
    reserved = RESERVED
    unsupported: Mapping[str, str] = MappingProxyType({"transferred objects": "an object that stays the caller's"})
    layers = "raw and safe"

    def render(self, spec: m.Spec) -> FileMap:
        from specbind.emit.go.package import render

        return render(spec)

    def names(self, spec: m.Spec) -> Iterator[Name]:
        from specbind.emit.go.names import names

        return names(spec)

    def gaps(self, spec: m.Spec, files: FileMap) -> Iterator[Gap]:
        yield Gap("not built here", "Windows and macOS", "There is code for both, which no test here runs.")


backend = GoBackend()
