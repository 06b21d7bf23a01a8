"""From a file to the model: what is in it, where it came from, and what happens to the items that are wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from specbind.spec import model as m
from specbind.spec.crossref import CrossReferences, Part, parts
from specbind.spec.diagnostics import SpecError
from specbind.spec.features import FEATURES, used_features
from specbind.spec.load import check, load
from specbind.spec.rules.references import Owner

SAMPLE = Path(__file__).with_name("sample.yaml")
ABI = Path(__file__).parents[2] / "abi" / "llama_speculative.yaml"


def edited(tmp_path: Path, *edits: tuple[str, str]) -> Path:
    """The sample with texts replaced, each of which it must have once."""
    text = SAMPLE.read_text(encoding="utf-8")
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = tmp_path / "edited.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_abi_of_this_repository_has_no_mistakes() -> None:
    assert check(ABI)[1] == []


def test_every_part_of_an_item_reaches_the_model() -> None:
    spec = load(SAMPLE)
    assert (spec.name, spec.prefix, spec.version, spec.since, spec.terms) == (
        "kiosk",
        "kiosk_",
        "0.3.0",
        "0.1.0",
        ("press_price",),
    )
    assert [g.title for g in spec.groups] == ["Opening hours", "Trade"]
    assert [(c.name, c.type.name, c.value, c.since) for c in spec.constants] == [
        ("ALL", "i32", -1, "0.1.0"),
        ("TAX", "f64", 0.07, "0.2.0"),
    ]
    assert spec.foreign_type("press").release == "press_free"
    assert spec.handle("kiosk").last_error == "last_error"
    assert spec.status.name == "status"
    evening = spec.enum("paper_kind").values[2]
    assert (evening.value, evening.deprecated, evening.deprecated_since) == (3, "Use `PAPER_DAILY`.", "0.2.0")
    assert spec.enum("paper_kind").prefix == "paper_"
    assert spec.enum("lights").prefix == "lights_"
    settings = spec.struct("settings")
    assert settings.field("struct_size").is_struct_size
    assert settings.field("discount") == replace(
        settings.field("discount"), type=m.SCALARS["f32"], default=0.0, min=0.0, max=1.0, unit="fraction", since="0.1.0"
    )
    assert isinstance(settings.field("discount").default, float), "0 of a float is 0.0, so that both spellings hash the same"
    assert settings.field("lights").since == "0.3.0"
    assert spec.function("version").returns == m.SCALARS["u32"]
    assert spec.function("close").returns is None
    assert spec.function("sell").returns == m.Ref("enum", "status")
    assert spec.function("sell").results == ("SOLD_OUT",)
    assert spec.callback("customer").returns == m.SCALARS["i32"]


def test_every_way_of_passing_is_told_apart() -> None:
    spec, P = load(SAMPLE), m.Passing
    got = {f"{f.name}.{p.name}": p.passing for f in spec.functions for p in f.params}
    expected = {
        "open.press": P.VALUE, "open.settings": P.STRUCT_IN, "open.out": P.OBJECT_OUT, "settings_init.settings": P.STRUCT_INIT,
        "sell.orders": P.ARRAY_IN, "sell.takings": P.STRUCT_INOUT, "sell.callback": P.VALUE, "list.out": P.ARRAY_OUT,
        "list.n_out": P.SCALAR_OUT, "prices.row": P.ADDRESS_OUT, "prices.currency": P.SCALAR_OUT, "takings_get.out": P.STRUCT_OUT,
    }  # fmt: skip
    assert {name: got[name] for name in expected} == expected
    to = spec.function("move").param("to")
    assert (to.role, to.which, to.all_sequences) == ("sequence", "destination", True)


def test_every_item_knows_its_place_in_the_file() -> None:
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    spec = load(SAMPLE)
    owners: tuple[Owner, ...] = (
        *spec.groups, *spec.constants, *spec.foreign, *spec.handles, *spec.enums, *spec.callbacks, *spec.structs, *spec.functions,
    )  # fmt: skip
    items: list[Owner | Part] = [*owners, *(part for owner in owners for part in parts(owner))]
    assert len({item.span for item in items}) == len(items)
    for item in items:
        assert item.span.file == str(SAMPLE)
        assert lines[item.span.line - 1][item.span.column - 1 :].startswith((f"name: {item.name}", f"{{name: {item.name},"))


def test_load_raises_all_mistakes_at_once(tmp_path: Path) -> None:
    path = edited(tmp_path, ("growable: false", "growable: no"), ("which: source, ", ""), ("[SOLD_OUT]", "[SOLD]"))
    with pytest.raises(SpecError) as raised:
        load(path)
    assert [d.code for d in raised.value.diagnostics] == ["SB010", "SB022"]
    assert "3 mistakes" not in str(raised.value)
    assert "2 mistakes in" in str(raised.value)
    assert "SB022" in str(raised.value)


def test_a_broken_item_does_not_make_what_refers_to_it_wrong(tmp_path: Path) -> None:
    """One mistake in a struct, an enum, a callback or a function is one mistake, however often the item is used."""
    for old, new in (
        ("    growable: false\n", "    growable: maybe\n"),
        ("- name: takings\n    growable: true", "- name: takings\n    growable: 1"),
        ("{name: DAILY, value: 1,", "{name: DAILY, value: one,"),
        ("thread: caller", "thread: main"),
        ("  - name: close\n    group: life\n    returns: void", "  - name: close\n    group: life\n    returns: 5"),
    ):
        _, found = check(edited(tmp_path, (old, new)))
        assert len(found) == 1, [d.message for d in found]


def test_a_mistake_in_a_whole_list_stops_the_checks_that_need_it(tmp_path: Path) -> None:
    _, found = check(edited(tmp_path, ("\ncallbacks:\n", "\ncallback:\n")))
    assert [(d.code, d.suggestion) for d in found] == [("SB012", "callbacks")]


def test_a_cross_reference_finds_the_nearest_meaning() -> None:
    spec = load(SAMPLE)
    names = CrossReferences(spec)
    listing, settings, kinds = spec.function("list"), spec.struct("settings"), spec.enum("paper_kind")
    assert names.resolve(listing, "out") is listing.param("out")
    assert names.resolve(spec, "open") is spec.function("open")
    assert names.resolve(spec.function("settings_init"), "struct_size") is settings.field("struct_size")
    assert names.resolve(kinds, "shelf") is spec.struct("order").field("shelf"), "a field of the struct that holds the enum"
    assert names.resolve(spec, "PAPER_WEEKLY") is kinds.values[1]
    assert names.resolve(spec, "settings.kind") is settings.field("kind")
    assert names.resolve(spec, "out") is None


def test_features_of_a_spec_are_found_where_they_are_used() -> None:
    used: dict[str, list[str]] = {}
    for use in used_features(load(SAMPLE)):
        used.setdefault(use.feature, []).append(use.what)
    assert set(used) <= set(FEATURES)
    assert used["flags"] == ["enum 'lights'"]
    assert used["frozen structs"] == ["struct 'order'"]
    assert used["arrays of structs"] == ["parameter 'orders' of 'sell'"]
    assert used["structs in structs"] == ["field 'wish' of 'order'"]
    assert used["functions for any thread"] == ["function 'takings_get'"]
    assert used["deprecation"] == ["value 'EVENING' of 'paper_kind'", "field 'since_us' of 'takings'", "function 'prices'"]


def test_a_library_without_documentation_is_one_mistake(tmp_path: Path) -> None:
    """Found by the random texts: the library is not an entry of a list, and its missing `doc` ended in a KeyError."""
    text = SAMPLE.read_text(encoding="utf-8")
    doc = text[text.index("  doc: |\n") : text.index("  terms:")]
    _, found = check(edited(tmp_path, (doc, "")))
    assert [(d.code, d.message) for d in found] == [("SB011", "'library' has no 'doc'")]


@pytest.mark.parametrize("wrong", ["[library: press_price]", "[[press]]", "{a: 1}", "7", "press"])
def test_terms_that_are_no_list_of_names_are_mistakes(tmp_path: Path, wrong: str) -> None:
    """Found by the random texts: a mapping among the terms ended in a TypeError."""
    text = SAMPLE.read_text(encoding="utf-8")
    terms = text[text.index("  terms:") : text.index("\n\ngroups")]
    spec, found = check(edited(tmp_path, (terms, f"  terms: {wrong}")))
    assert spec is None
    assert {d.code for d in found} & {"SB010"}
