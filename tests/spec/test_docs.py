"""docs/spec.md and the pages of the codes say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from specbind.layout.targets import TARGETS
from specbind.spec import model as m
from specbind.spec.codes import codes, page
from specbind.spec.features import FEATURES
from specbind.spec.load import check_source
from specbind.spec.source import make_source
from specbind.spec.structure import load_schema

DOCS = (Path(__file__).parents[2] / "docs" / "spec.md").read_text(encoding="utf-8")


def test_the_whole_spec_in_the_documentation_has_no_mistakes() -> None:
    example = next(block for block in re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL) if block.startswith("spec: 1"))
    assert check_source(make_source("docs", example))[1] == []


def test_the_documentation_mentions_every_key_word_type_and_range_of_codes() -> None:
    schema = load_schema()
    keys = {key for part in (schema, *schema["definitions"].values()) for key in part.get("properties", {})}
    words = {word for d in schema["definitions"].values() for p in d.get("properties", {}).values() for word in p.get("enum", ())}
    named = set(re.findall(r"`(\w+)`", DOCS)) | set(re.findall(r"^### (\w+)", DOCS, re.MULTILINE)) | {"note"}
    assert keys | words - {"status"} | set(m.SCALARS) <= named
    ranges = [(first, last) for first, last in re.findall(r"^\| (SB\d+)(?:.(SB\d+))? \|", DOCS, re.MULTILINE)]
    assert all(any(first <= code <= (last or first) for first, last in ranges) for code in codes())
    assert len(TARGETS) == 10
    assert "on ten of them" in DOCS


def test_the_page_about_features_lists_them_all() -> None:
    text = " ".join(page("SB033").split())
    assert all(feature in text for feature in FEATURES)
