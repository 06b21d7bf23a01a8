"""What the hash of a signature, and of a whole spec, stands for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from layout_c import spec_of

from specbind.layout.signature import canonical, fnv1a64, spec_hash
from specbind.spec import model as m
from specbind.spec.load import load

SPEC = Path(__file__).parents[2] / "abi" / "llama_speculative.yaml"
I32, SIZE = m.SCALARS["i32"], m.SCALARS["size"]
STATUS = m.Ref("enum", "status")
P = m.Passing


def function(*params: m.Param, returns: m.Type | None = STATUS) -> m.Function:
    return m.Function("f", "g", params, returns, "", "0.1.0")


def text(*params: m.Param, returns: m.Type | None = STATUS) -> str:
    return canonical(spec_of(()), function(*params, returns=returns))


# Vectors from the reference implementation's test suite (Fowler, Noll, Vo).
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("", 0xCBF29CE484222325),
        ("a", 0xAF63DC4C8601EC8C),
        ("foobar", 0x85944171F73967E8),
        ("chongo was here!\n", 0x46810940EFF5F915),
    ],
)
def test_the_hash_is_fnv_1a_of_64_bits(data: str, expected: int) -> None:
    assert fnv1a64(data) == expected


def test_a_signature_reads_as_types_ways_and_meanings() -> None:
    assert text(returns=None) == "void()"
    assert text(m.Param("n", I32, P.VALUE, ""), returns=m.Str()) == "str(i32)"
    buffer = (
        m.Param("handle", m.Ref("handle", "spec"), P.VALUE, ""),
        m.Param("id", I32, P.VALUE, "", role="sequence", which="source", all_sequences=True),
        m.Param("out", I32, P.ARRAY_OUT, "", "out", array="room", count="n"),
        m.Param("room", SIZE, P.VALUE, ""),
        m.Param("n", SIZE, P.SCALAR_OUT, "", "out"),
    )
    assert text(*buffer) == (
        "enum status(handle spec, i32 role=sequence which=source all_sequences, "
        "i32 array_out length=3 count=4, size, size scalar_out)"
    )
    given = m.Param("ctx", m.Ref("foreign", "llama_context"), P.VALUE, "", nullable=True, ownership="borrowed")
    assert text(given) == "enum status(foreign llama_context nullable borrowed)"


def test_a_callback_stands_as_its_own_signature() -> None:
    user = m.Param("user", m.Pointer(), P.VALUE, "", nullable=True)
    callback = m.Callback("ask", (m.Param("text", m.Str(), P.VALUE, ""), user), I32, "", "0.1.0", "any", "ever")
    spec = replace(spec_of(()), callbacks=(callback,), _index={})
    taker = function(m.Param("ask", m.Ref("callback", "ask"), P.VALUE, ""), user)
    assert canonical(spec, taker) == "enum status(callback{i32(str, pointer nullable)}, pointer nullable)"


A = m.Param("a", I32, P.VALUE, "From.", role="begin")
B = m.Param("b", I32, P.VALUE, "To.", role="end")


def test_names_and_documentation_of_parameters_do_not_matter() -> None:
    assert text(A, B) == text(replace(A, name="x", doc="Otherwise."), B)


@pytest.mark.parametrize(
    "changed",
    [
        (B, A),
        (A,),
        (A, B, m.Param("c", I32, P.VALUE, "")),
        (A, replace(B, type=m.SCALARS["u32"])),
        (A, replace(B, type=m.SCALARS["i64"])),
        (A, replace(B, passing=P.SCALAR_OUT, direction="out")),
        (A, replace(B, role=None)),
        (A, replace(B, which="first")),
        (A, replace(B, nullable=True)),
        (A, replace(B, ownership="transferred")),
        (A, replace(B, all_sequences=True)),
    ],
    ids="swapped removed added sign width direction role which nullable ownership all".split(),
)
def test_what_both_sides_must_agree_on_changes_the_signature(changed: tuple[m.Param, ...]) -> None:
    assert text(*changed) != text(A, B)


def test_every_function_of_the_abi_has_a_signature_without_its_prefix() -> None:
    spec = load(SPEC)
    private = replace(spec, prefix="mine_", _index={})
    for each in spec.functions:
        assert spec.prefix not in canonical(spec, each)
        assert canonical(private, each) == canonical(spec, each)


def changed(spec: m.Spec, struct: str, field: str, **values: object) -> m.Spec:
    """`spec` with other values in one field of one struct."""
    structs = tuple(
        replace(s, fields=tuple(replace(f, **values) if f.name == field else f for f in s.fields)) if s.name == struct else s  # type: ignore[arg-type]
        for s in spec.structs
    )
    return replace(spec, structs=structs, _index={})


def test_the_hash_of_a_spec_ignores_documentation_order_of_items_and_prefix() -> None:
    spec = load(SPEC)
    assert len(spec_hash(spec)) == 16
    assert int(spec_hash(spec), 16) > 0
    same = replace(
        changed(spec, "params", "p_min", doc="Otherwise."), functions=spec.functions[::-1], prefix="mine_", doc="", _index={}
    )
    assert spec_hash(same) == spec_hash(spec)


@pytest.mark.parametrize(
    "values",
    [{"default": 4}, {"min": 1}, {"max": 1023}, {"type": m.SCALARS["u32"]}, {"name": "n_draft_most"}, {"nullable": True}],
    ids=lambda values: next(iter(values)),
)
def test_the_hash_of_a_spec_changes_with_a_field(values: dict[str, object]) -> None:
    spec = load(SPEC)
    assert spec_hash(changed(spec, "params", "n_draft_max", **values)) != spec_hash(spec)


def test_the_hash_of_a_spec_changes_with_the_order_of_fields_with_constants_and_with_ranges_of_parameters() -> None:
    spec = load(SPEC)
    first = spec.structs[0]
    moved = replace(first, fields=(first.fields[0], *first.fields[:0:-1]))
    constant = replace(spec.constants[0], value=-2)
    limits = spec.function("seq_set_limits")
    wider = replace(limits, params=tuple(replace(p, max=2048) if p.name == "n_draft_max" else p for p in limits.params))
    others = [
        replace(spec, structs=(moved, *spec.structs[1:]), _index={}),
        replace(spec, constants=(constant, *spec.constants[1:]), _index={}),
        replace(spec, functions=tuple(wider if f is limits else f for f in spec.functions), _index={}),
        replace(spec, functions=spec.functions[1:], _index={}),
    ]
    assert len({spec_hash(spec), *map(spec_hash, others)}) == 5
