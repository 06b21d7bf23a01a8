"""A back end of one folder, as CONTRIBUTING.md describes it: constants of Forth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from specbind.emit.core import FileMap, Gap, Name, environment, notice
from specbind.spec import model as m


class ForthBackend:
    name = "forth"
    title = "Forth"
    folders = ("bindings_out/forth",)
    reserved = frozenset({"DUP", "SWAP"})
    unsupported: Mapping[str, str] = MappingProxyType({"callbacks": "polling"})
    layers = "constants"

    def render(self, spec: m.Spec) -> FileMap:
        template = environment(Path(__file__).parent / "templates").get_template("constants.fth.jinja")
        return {f"bindings_out/forth/{spec.name}.fth": template.render(notice=notice(spec), constants=list(constants(spec)))}

    def names(self, spec: m.Spec) -> Iterator[Name]:
        for enum in spec.enums:
            yield from (Name(word(v), "the dictionary", v, f"value '{v.name}' of '{enum.name}'") for v in enum.values)

    def gaps(self, spec: m.Spec, files: FileMap) -> Iterator[Gap]:
        yield Gap("left out", "everything but constants", "It is a toy.")


def word(value: m.EnumValue) -> str:
    return value.name.replace("_", "-")


def constants(spec: m.Spec) -> Iterator[tuple[int, str]]:
    for enum in spec.enums:
        yield from ((v.value, word(v)) for v in enum.values)


backend = ForthBackend()
