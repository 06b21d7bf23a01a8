"""The codes of all diagnostics. Each has a page of explanation in `pages/`; its first line is the title."""

from __future__ import annotations

from pathlib import Path

PAGES = Path(__file__).parent / "pages"


def codes() -> list[str]:
    """All codes, in order."""
    return sorted(page.stem for page in PAGES.glob("SB[0-9][0-9][0-9].md"))


def page(code: str) -> str:
    """The explanation of a code, Markdown. KeyError if there is no such code."""
    path = PAGES / f"{code}.md"
    if code not in codes():
        raise KeyError(code)
    return path.read_text(encoding="utf-8")


def title(code: str) -> str:
    """A code's title: the first line of its page without the sign and the code."""
    return page(code).split("\n", 1)[0].removeprefix(f"# {code}: ")
