"""The Dart back end: a package with the raw layer, the load-time check, typed exceptions and owners of the objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from specbind.emit.core import FileMap, Gap, Name
from specbind.emit.dart.naming import RESERVED
from specbind.spec import model as m


class DartBackend:
    name = "dart"
    title = "Dart package (raw layer)"
    folders = ("bindings_out/dart",)
    reserved = RESERVED
    unsupported: Mapping[str, str] = MappingProxyType({})
    layers = "raw, typed exceptions, owners of objects"

    def render(self, spec: m.Spec) -> FileMap:
        from specbind.emit.dart.package import render

        return render(spec)

    def names(self, spec: m.Spec) -> Iterator[Name]:
        from specbind.emit.dart.names import names

        return names(spec)

    def gaps(self, spec: m.Spec, files: FileMap) -> Iterator[Gap]:
        yield Gap("left out", "a safe layer over the functions", "It comes after the raw layer, its load-time check and its typed exceptions.")
        yield Gap("not built here", "the whole package", "No Dart SDK is at hand; the tests parse it and compare its layout with the engine's.")


backend = DartBackend()
