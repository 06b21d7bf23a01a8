"""The Swift back end: a SwiftPM package with the header as a system-library target and a safe layer above it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from specbind.emit.core import FileMap, Gap, Name
from specbind.emit.swift.naming import RESERVED
from specbind.spec import model as m


class SwiftBackend:
    name = "swift"
    title = "Swift package"
    folders = ("bindings_out/swift",)
    reserved = RESERVED
    unsupported: Mapping[str, str] = MappingProxyType({})
    layers = "raw and safe"

    def render(self, spec: m.Spec) -> FileMap:
        from specbind.emit.swift.package import render

        return render(spec)

    def names(self, spec: m.Spec) -> Iterator[Name]:
        from specbind.emit.swift.names import names

        return names(spec)

    def gaps(self, spec: m.Spec, files: FileMap) -> Iterator[Gap]:
        yield Gap("not built here", "macOS and iOS", "The tests use the Linux toolchain.")


backend = SwiftBackend()
