"""The C# back end: a class library for netstandard2.0 and net8.0, with the raw layer internal to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from specbind.emit.core import FileMap, Gap, Name
from specbind.emit.csharp.naming import RESERVED
from specbind.spec import model as m


class CSharpBackend:
    name = "csharp"
    title = "C# class library"
    folders = ("bindings_out/csharp",)
    reserved = RESERVED
    unsupported: Mapping[str, str] = MappingProxyType({})
    layers = "raw and safe"

    def render(self, spec: m.Spec) -> FileMap:
        from specbind.emit.csharp.package import render

        return render(spec)

    def names(self, spec: m.Spec) -> Iterator[Name]:
        from specbind.emit.csharp.names import names

        return names(spec)

    def gaps(self, spec: m.Spec, files: FileMap) -> Iterator[Gap]:
        why = "No .NET SDK is at hand; the tests build the netstandard2.0 profile, run it on Mono and CoreCLR, and parse the other."
        yield Gap("not built here", "the profile for net7.0 and later with `LibraryImport`", why)


backend = CSharpBackend()
