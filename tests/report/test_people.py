"""What people read: the terminal and the comment on a pull request."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specbind.diff.finding import Comparison, Finding, Verdict
from specbind.report import MODULES, render
from specbind.report.markdown import LIMIT, MARK


def test_the_terminal_has_the_verdict_first_and_each_change_with_place_and_rule(everything: Comparison) -> None:
    lines = render(everything, "text").splitlines()
    assert lines[0] == "meaning break: 4 changes (1 meaning break, 1 binary break, 1 additive, 1 waived)"
    assert lines[1] == "git:main:abi/x.yaml (1.2.0) -> abi/x.yaml (1.3.0)"
    assert "binary break   struct s.n: u64, it was size [field-width-changed]" in lines
    assert "               abi/x y.yaml:4:2" in lines
    assert "               only on i686-linux, wasm32" in lines
    assert "waived         struct params.n: 4, it was 3 [default-changed]" in lines
    assert "               only speed | differs (@owner, until 2027-03-31)" in lines
    assert "error: ci/abi-waivers.yaml:9:5: the waiver of x for 'y' matches no finding: remove it" in lines
    assert lines[-1] == "`specbind explain parameters-swapped` says what to do instead."


def test_colours_come_only_when_asked_for(everything: Comparison) -> None:
    safe = replace(everything, findings=everything.findings[1:])
    assert "\x1b" not in render(safe, "text")
    coloured = render(safe, "text", color=True)
    assert coloured.startswith("\x1b[31m\x1b[1mbinary break\x1b[0m: ")


def test_no_sign_of_a_message_reaches_the_terminal_as_a_command(everything: Comparison) -> None:
    for color in (False, True):
        assert "漢 \\x1b\\n]]>" in render(everything, "text", color=color)


def test_no_change_is_said_in_one_word(nothing: Comparison) -> None:
    assert render(nothing, "text") == "none: no change\nold.yaml (1.0.0) -> new.yaml (1.0.0)\n"
    assert render(nothing, "markdown") == (
        f"{MARK}\n## ⚪ ABI: none\n\nold.yaml (1.0.0) → new.yaml (1.0.0): no change.\n"
    )


def test_a_comment_has_verdict_table_and_folded_details(everything: Comparison) -> None:
    text = render(everything, "markdown")
    lines = text.splitlines()
    assert lines[:2] == [MARK, "## 🟣 ABI: meaning break"]
    assert "must rise by at least a **major** step" in text
    assert (
        "| 🔴 binary break | <code>struct s.n</code> | u64, it was size<br>only on i686-linux, wasm32 "
        "| <code>field-width-changed</code> | abi/x y.yaml:4:2 |"
    ) in lines
    assert text.count("<details>") == text.count("</details>") == 3
    assert "<details><summary><code>parameters-swapped</code>: Parameters of one type changed places</summary>" in lines
    assert "**waived** by @&#8203;owner until 2027-03-31: only speed \\| differs" in text
    assert "- ci/abi-waivers.yaml:9:5: the waiver of x for 'y' matches no finding: remove it" in lines


def test_markup_in_a_message_stays_text_and_inside_its_cell(everything: Comparison) -> None:
    (row,) = [line for line in render(everything, "markdown").splitlines() if "function f(a, b)" in line]
    assert 'a\\|b \\`c\\` &lt;d&gt; &amp; "e" \\*f\\* @&#8203;g é 漢' in row
    assert row.replace("\\|", "").count("|") == 6


def test_a_comment_is_never_longer_than_hosts_take(nothing: Comparison) -> None:
    many = tuple(Finding("function-removed", Verdict.BINARY, f"function f{n}", "it is gone") for n in range(2000))
    text = render(replace(nothing, findings=many), "markdown")
    shown = text.count("<code>function f")
    assert LIMIT / 2 < len(text) <= LIMIT + 200
    assert f"{2000 - shown} more: the report in JSON has all of them." in text


def test_a_form_that_is_not_there_is_an_error(nothing: Comparison) -> None:
    assert list(MODULES) == ["text", "json", "markdown", "sarif", "junit"]
    with pytest.raises(KeyError):
        render(nothing, "html")
