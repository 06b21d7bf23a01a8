"""The Rust back end: a raw -sys crate and a safe crate over it, in one workspace without dependencies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from specbind.emit.core import FileMap, Gap, Name
from specbind.emit.rust.naming import RESERVED
from specbind.spec import model as m


class RustBackend:
    name = "rust"
    title = "Rust crates"
    folders = ("bindings_out/rust",)
    reserved = RESERVED
    unsupported: Mapping[str, str] = MappingProxyType({"transferred objects": "an object that stays the caller's"})
    layers = "raw and safe"

    def render(self, spec: m.Spec) -> FileMap:
        from specbind.emit.rust.package import render

        return render(spec)

    def names(self, spec: m.Spec) -> Iterator[Name]:
        from specbind.emit.rust.names import names

        return names(spec)

    def gaps(self, spec: m.Spec, files: FileMap) -> Iterator[Gap]:
        yield Gap("not built here", "Windows and macOS", "There is code for both, which no test here runs.")


backend = RustBackend()
