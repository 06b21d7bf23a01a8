"""The reference says everything that the spec says, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from specbind.emit.c.naming import CNaming
from specbind.emit.core import backends
from specbind.spec import model as m
from specbind.spec.load import load

ROOT = Path(__file__).resolve().parents[2]
SPEC = load(ROOT / "abi" / "llama_speculative.yaml")
NAMING = CNaming(SPEC)


@pytest.fixture(scope="module")
def page() -> str:
    return backends()["reference"].render(SPEC)["docs/reference.md"]


def section(page: str, heading: str) -> str:
    """What stands below a heading, up to the next one of any level."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


def anchors(page: str) -> set[str]:
    """The names that GitHub gives to headings."""
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.+)$", page, re.MULTILINE)}


def test_every_link_leads_to_a_heading(page: str) -> None:
    links = set(re.findall(r"\]\(#([^)]+)\)", page))
    assert len(links) > 60
    assert links <= anchors(page)


def test_every_item_has_a_section_with_all_its_parts(page: str) -> None:
    for function in SPEC.functions:
        text = section(page, NAMING.function(function.name))
        assert f"{NAMING.function(function.name)}(" in text
        assert [row for p in function.params if (row := f"\n| `{p.name}` |") not in text] == []
        assert [name for name in (*function.results, *function.errors) if f"`{name}`" not in text] == []
    for struct in SPEC.structs:
        text = section(page, NAMING.struct(struct.name))
        assert [f.name for f in struct.fields if f"\n| `{f.name}` |" not in text] == []
    for enum in SPEC.enums:
        text = section(page, NAMING.enum(enum.name))
        assert [v.name for v in enum.values if f"\n| `{NAMING.enum_value(enum, v)}` | {v.value} |" not in text] == []
    for callback in SPEC.callbacks:
        assert "Needed until: " in section(page, NAMING.callback(callback.name))


def test_a_round_is_told_in_the_order_of_its_calls(page: str) -> None:
    text = section(page, "Round: Primitives")
    assert re.findall(r"^\d+\. \[`(\w+)`\]", text, re.MULTILINE) == [
        "process", "begin", "draft_request", "draft", "get_draft", "process", "accept",
    ]  # fmt: skip
    assert [int(n) for n in re.findall(r"^(\d+)\. ", text, re.MULTILINE)] == list(range(1, 12))


def test_every_object_that_comes_out_says_how_it_ends(page: str) -> None:
    text = section(page, "Ownership")
    made = [f for f in SPEC.functions if any(p.passing is m.Passing.OBJECT_OUT for p in f.params)]
    assert [f.name for f in made] == ["draft_context_init", "init", "session_open"]
    for function, end in zip(made, ("llama_free", "free", "session_close"), strict=True):
        row = next(line for line in text.splitlines() if f"of [`{function.name}`]" in line)
        assert f"`{end}`" in row.split("|")[2]
    assert "| `smpl` of [`seq_set_sampler`](#llama_speculative_seq_set_sampler) | the caller | the object is released |" in text


def test_a_status_lists_the_functions_that_return_it(page: str) -> None:
    rows = {line.split("`")[1]: line for line in section(page, "Statuses").splitlines() if line.startswith("| `")}
    assert set(rows) == {v.name for v in SPEC.status.values}
    assert re.findall(r"\[`(\w+)`\]", rows["COLD"]) == ["state_load"]
    assert rows["ERROR_INVALID_ARGUMENT"].endswith("every function that returns a status, except [`log_set`](#llama_speculative_log_set) |")


def test_cross_references_in_the_documentation_are_links(page: str) -> None:
    assert "[`last_error`](#llama_speculative_last_error) gives" in section(page, "llama_speculative_status")
