"""Our own header, made from the spec and read again, says what the spec says."""

from __future__ import annotations

from pathlib import Path

import pytest

from specbind.cheader import import_header
from specbind.emit.c.naming import CNaming
from specbind.layout.engine import compute
from specbind.layout.targets import TARGETS, Target
from specbind.spec import model as m
from specbind.spec.load import load

pytest.importorskip("clang.cindex", reason="libclang is missing: pip install libclang")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def spec() -> m.Spec:
    return load(ROOT / "abi" / "llama_speculative.yaml")


@pytest.fixture(scope="module")
def read(spec: m.Spec) -> m.Spec:
    return import_header(ROOT / "native" / "include" / "llama_speculative.h", prefix=spec.prefix)


@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)
def test_the_layout_is_the_same_on_every_target(spec: m.Spec, read: m.Spec, target: Target) -> None:
    assert compute(read, target) == compute(spec, target)
    assert {s.name: s.growable for s in read.structs} == {s.name: s.growable for s in spec.structs}


def imported_text(spec: m.Spec, param: m.Param) -> str:
    """C text of an imported parameter."""
    kind = param.type
    if isinstance(kind, m.CType):
        return kind.name + (" *" if param.passing is m.Passing.SCALAR_OUT else "")
    if isinstance(kind, m.Ref) and kind.kind in ("handle", "foreign", "struct"):
        tags = {"handle": kind.name if kind.name == "llama_speculative" else spec.prefix + kind.name, "foreign": f"struct {kind.name}"}
        element = tags.get(kind.kind, spec.prefix + kind.name)
        pointers = " **" if param.passing is m.Passing.OBJECT_OUT else " *"
        return ("const " if param.direction == "in" else "") + element + pointers
    element = CNaming(spec).type(kind)
    const, stars = {
        m.Passing.VALUE: ("", ""), m.Passing.ARRAY_IN: ("const ", " *"), m.Passing.SCALAR_OUT: ("", " *"),
        m.Passing.ADDRESS_OUT: ("const ", " **"),
    }[param.passing]  # fmt: skip
    return f"{const}{element}{stars}"


def test_every_function_and_callback_has_the_signature_of_the_spec(spec: m.Spec, read: m.Spec) -> None:
    naming = CNaming(spec)
    assert [f.name for f in read.functions] == [f.name for g in spec.groups for f in spec.functions_of(g.name)]
    called = [(f, read.function(f.name)) for f in spec.functions] + [(c, read.callback(c.name)) for c in spec.callbacks]
    for ours, theirs in called:
        # C does not tell a struct of the spec's from a typedef of the same tag, so `struct` is left out on both sides
        stated = [(p.name, naming.parameter_type(p).replace("struct ", "")) for p in ours.params]
        assert [(p.name, imported_text(read, p).replace("struct ", "")) for p in theirs.params] == stated, ours.name
        assert theirs.returns == ours.returns, ours.name


def test_enums_constants_handles_and_the_version_are_those_of_the_spec(spec: m.Spec, read: m.Spec) -> None:
    def values(each: m.Spec) -> dict[str, list[tuple[str, int]]]:
        return {enum.name: [(value.name, value.value) for value in enum.values] for enum in each.enums}

    assert values(read) == values(spec)
    assert [(c.name, c.type, c.value) for c in read.constants] == [(c.name, c.type, c.value) for c in spec.constants]
    assert {h.c_name: h.release for h in read.handles} == {h.c_name: h.release for h in spec.handles}
    assert {f.name for f in read.foreign} == {f.name for f in spec.foreign}
    assert read.version == spec.version
