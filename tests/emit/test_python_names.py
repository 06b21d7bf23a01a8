"""Names that meet only in Python are told with their place, as those of every other language are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from specbind.emit.core import Named
from specbind.emit.python import backend
from specbind.spec.load import check_source, load
from specbind.spec.source import make_source

SPEC = Path(__file__).resolve().parents[2] / "abi" / "llama_speculative.yaml"
TEXT = SPEC.read_text(encoding="utf-8")


def lint(old: str, new: str) -> list[tuple[str, str]]:
    """Codes and messages for the spec with `new` for the expression `old`, asking Python only."""
    text, count = re.subn(old, new, TEXT)
    assert count
    _, found = check_source(make_source("edited.yaml", text), [backend])
    return [(each.code, each.message) for each in found]


def test_python_says_every_name_that_it_makes() -> None:
    assert isinstance(backend, Named)
    assert lint("spec: 1", "spec: 1") == []
    names = {(name.scope, name.identifier) for name in backend.names(load(SPEC))}
    assert {("the package", "SeqState"), ("the package", "UnsupportedError"), ("the package", "Stats")} <= names
    assert {("arguments of Session", "n_ctx"), ("arguments of Speculative", "n_draft_max"), ("values of Status", "END")} <= names


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (r"\b(name|type): hidden_mode\b", r"\1: library", "enum 'library' and the binding's own 'Library' are both called 'Library'"),
        (r"\bhidden_mode\b", "call_order_error", "'ERROR_CALL_ORDER' of 'status' and enum 'call_order_error' are both called 'CallOrderError'"),
        ("name: ngram_simple_n,", "name: library,", "field 'library' of 'params' and the binding's own 'library' are both called 'library' in Python (arguments of Speculative)"),
        ("name: n_draft_min,", "name: n_ctx,", "'n_ctx' of 'params' and field 'n_ctx' of 'session_params' are both called 'n_ctx'"),
    ],
)
def test_a_clash_in_python_is_told(old: str, new: str, message: str) -> None:
    assert any(code == "SB031" and message in text and "Python" in text for code, text in lint(old, new)), lint(old, new)
