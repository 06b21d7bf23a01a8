"""How YAML becomes a tree: values, places, and everything that a file can be instead of YAML."""

from __future__ import annotations

from pathlib import Path

import pytest

from specbind.spec.load import check
from specbind.spec.source import Leaf, Map, make_source, read, resolve

SAMPLE = Path(__file__).with_name("sample.yaml")


def leaf(text: str) -> tuple[object, int, int, int]:
    """Value, line, column and caret length of `key` in a mapping."""
    source = make_source("f", text)
    root, found = read(source)
    assert found == []
    assert isinstance(root, Map)
    node = root.get("key")
    assert isinstance(node, Leaf)
    return (node.value, *source.place(node))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("OFF", "OFF"),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("0x1F", 31),
        ("012", 12),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        (".inf", ".inf"),
        ("0.1.0", "0.1.0"),
        ("2026-01-01", "2026-01-01"),
        ("9" * 5000, float("inf")),
    ],
)
def test_plain_scalars_mean_what_yaml_1_2_says(text: str, value: object) -> None:
    got = resolve(text)
    assert got == value
    assert type(got) is type(value)


def test_a_quoted_scalar_is_text_and_its_caret_covers_the_quotes() -> None:
    assert leaf('key: "12"') == ("12", 1, 6, 4)


def test_columns_count_characters_also_behind_wide_ones() -> None:
    assert leaf('{other: "äöü→", key: 7}') == (7, 1, 22, 1)


def test_a_caret_ends_with_the_first_line_of_its_value() -> None:
    assert leaf("key: |\n  two\n  lines\n") == ("two\nlines\n", 1, 6, 1)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(newline: str) -> None:
    assert leaf(newline.join(["a: 1", "b: 2", "key: 3", ""])) == (3, 3, 6, 1)


def test_a_byte_order_mark_is_no_column(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfspec: 2\n")
    _, found = check(path)
    assert [(d.code, d.span.line, d.span.column) for d in found if d.code == "SB017"] == [("SB017", 1, 7)]


def test_a_file_that_is_not_utf_8_is_refused_at_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes("spec: 1\nlibrary: ö\n".encode("latin-1"))
    spec, found = check(path)
    assert spec is None
    assert [(d.code, d.span.line, d.span.column, d.message) for d in found] == [("SB001", 2, 10, "byte 0xf6 is not UTF-8")]


def test_a_file_that_cannot_be_opened_is_a_diagnostic(tmp_path: Path) -> None:
    for path, why in ((tmp_path / "none.yaml", "No such file or directory"), (tmp_path, "Is a directory")):
        _, found = check(path)
        assert [(d.code, d.message) for d in found] == [("SB001", f"the file cannot be read: {why}")]


@pytest.mark.parametrize(
    ("text", "what"), [("", "empty"), ("# only a comment\n", "empty"), ("[1]\n", "a list"), ("5\n", "the number 5")]
)
def test_a_file_that_is_no_mapping_is_one_mistake(text: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    spec, found = check(path)
    assert spec is None
    assert [(d.code, d.message) for d in found] == [("SB010", f"the file is {what}")]


def test_nesting_without_end_is_refused_without_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "deep.yaml"
    path.write_text("spec: " + "[" * 20000)
    assert {d.code for d in check(path)[1]} <= {"SB002", "SB010", "SB011"}
    path.write_text("spec: 1\nlibrary: &a {name: *a, prefix: [*a]}\n")
    assert "SB004" in {d.code for d in check(path)[1]}


def test_a_second_document_and_a_key_that_is_no_word_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(SAMPLE.read_text() + "---\nspec: 1\n")
    assert [(d.code, d.message) for d in check(path)[1]] == [("SB004", "a second document is not part of the spec language")]
    path.write_text(SAMPLE.read_text() + "? [a]\n: 1\n")
    assert "a key is a list or a mapping" in [d.message for d in check(path)[1]]
