"""One comparison with everything that a report must show, and one without a change."""

from __future__ import annotations

import pytest

from specbind.diff.finding import Comparison, Finding, Side, Verdict, Waiver
from specbind.spec.model import Span

AWKWARD = 'a|b `c` <d> & "e" *f* @g é 漢 \x1b\n]]>'


@pytest.fixture
def everything() -> Comparison:
    """A break, a waived break, an addition without a place, one change on one target, awkward text, and an error."""
    waiver = Waiver("default-changed", "struct params.n", "only speed | differs", "@owner", "2027-03-31", Span("ci/abi-waivers.yaml", 3, 5))
    return Comparison(
        Side("git:main:abi/x.yaml", "1.2.0", "00aa"),
        Side("abi/x.yaml", "1.3.0", "00bb"),
        (
            Finding("parameters-swapped", Verdict.MEANING, "function f(a, b)", AWKWARD, "a, b", "b, a", Span("abi/x.yaml", 12, 7)),
            Finding("field-width-changed", Verdict.BINARY, "struct s.n", "u64, it was size", "size", "u64", Span("abi/x y.yaml", 4, 2),
                    targets=("i686-linux", "wasm32")),
            Finding("default-changed", Verdict.SOURCE, "struct params.n", "4, it was 3", "3", "4", Span("abi/x.yaml", 30, 9), waiver=waiver),
            Finding("function-added", Verdict.ADDITIVE, "function g", "new", new="g()"),
        ),
        ("ci/abi-waivers.yaml:9:5: the waiver of x for 'y' matches no finding: remove it",),
    )  # fmt: skip


@pytest.fixture
def nothing() -> Comparison:
    return Comparison(Side("old.yaml", "1.0.0", "1"), Side("new.yaml", "1.0.0", "1"), ())
