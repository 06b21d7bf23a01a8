"""Code in the documentation of the spec, in one backtick for names and in two for anything else, as each language writes it."""

from __future__ import annotations

from specbind.emit.csharp import text as csharp
from specbind.emit.go import text as go
from specbind.emit.swift import text as swift

TEXT = "``auto`` or `seq_info`, and ``a < b``."


def test_code_of_both_kinds_is_an_element_in_csharp() -> None:
    assert csharp.prose(TEXT) == "<c>auto</c> or <c>seq_info</c>, and <c>a &lt; b</c>."


def test_code_is_no_link_to_a_symbol_in_swift() -> None:
    assert swift.prose(TEXT) == "`auto` or `seq_info`, and `a < b`."
    links = "``SpeculativeError/busy(_:)``, ``SpeculativeError/internal(_:)``."
    assert swift.prose(links) == links


def test_gofmt_would_make_quotation_marks_of_two_backticks() -> None:
    assert go.comment(TEXT) == ["// `auto` or `seq_info`, and `a < b`."]
