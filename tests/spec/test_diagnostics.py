"""Every diagnostic, each with a spec that has the mistake and says below the line what must be reported there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from specbind.emit.c import backend as c_backend
from specbind.spec import codes, rules
from specbind.spec.load import check

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("SB*.yaml"))

# `#     ^^^^ SB012: message` below a line expects a diagnostic there. Column 1 is where `#` stands: it is written out.
MARK = re.compile(r"^#(?P<first> column 1:)?\s*(?P<carets>\^+) (?P<code>SB\d{3}): (?P<message>.*)$")
EXPECTED = re.compile(r"^#   = expected: (.*)$")
SUGGESTION = re.compile(r"^#   = did you mean '(.*)'\?$")


@dataclass
class Mark:
    """What must be reported: the fields of a diagnostic that a reader sees."""

    line: int
    column: int
    length: int
    code: str
    message: str
    expected: str = ""
    suggestion: str = ""

    def key(self) -> tuple[int, int, str, str]:
        return self.line, self.column, self.code, self.message


def marks(text: str) -> list[Mark]:
    """The expectations in the comments of a fixture."""
    found: list[Mark] = []
    line_above = 0
    for number, line in enumerate(text.splitlines(), 1):
        if match := MARK.match(line):
            column = 1 if match["first"] else match.start("carets") + 1
            found.append(Mark(line_above, column, len(match["carets"]), match["code"], match["message"]))
        elif match := EXPECTED.match(line):
            found[-1].expected = match[1]
        elif match := SUGGESTION.match(line):
            found[-1].suggestion = match[1]
        elif not line.startswith("#"):
            line_above = number
    return sorted(found, key=Mark.key)


class Plain:
    """A back end that lacks flags."""

    title = "Plain"
    reserved: frozenset[str] = frozenset()
    unsupported = {"flags": "a whole number"}  # noqa: RUF012

    def names(self, spec: object) -> list[object]:
        return []


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_fixture_gets_exactly_the_diagnostics_that_it_asks_for(path: Path) -> None:
    backends = [Plain()] if path.stem == "SB033" else [c_backend]
    spec, found = check(path, backends)
    got = [Mark(d.span.line, d.span.column, d.length, d.code, d.message, d.expected, d.suggestion) for d in found]
    assert got == marks(path.read_text(encoding="utf-8"))
    assert spec is None
    assert path.stem in {d.code for d in found}, "a fixture must show the code that it is named after"


def test_every_code_has_a_page_and_a_fixture() -> None:
    pages, fixtures = codes.codes(), [path.stem for path in FIXTURES]
    assert pages == fixtures
    checked = {rule.code for table in (rules.REFERENCES, rules.MEANING, rules.LANGUAGES) for rule in table}
    assert checked <= set(pages)


@pytest.mark.parametrize("code", codes.codes())
def test_a_page_has_a_title_and_says_what_is_right(code: str) -> None:
    page = codes.page(code)
    assert re.match(rf"# {code}: [A-Z_a-z][^\n]+\n\n", page)
    assert codes.title(code) == page.split("\n")[0].removeprefix(f"# {code}: ")
    assert len(page.splitlines()) > 4
    assert ("Wrong:" in page) == ("Right:" in page)
