"""Go text as gofmt would leave it."""

from __future__ import annotations

from specbind.emit.c.text import paragraphs

WIDTH = 120

# First words of documentation that look like verbs and are not.
NOUNS = frozenset("Bytes Counters Limits Logits Tokens".split())


def comment(text: str, indent: int = 0) -> list[str]:
    """`text` as `//` lines, without the indent; lists stand out as gofmt wants them, which makes quotation marks of two backticks."""
    text = text.replace("``", "`")
    lines = []
    listed = False
    for line in paragraphs(text, WIDTH - indent - 5):
        listed = line.startswith("- ") or (listed and line.startswith("  "))
        lines.append(f"// {'  ' if listed else ''}{line}".rstrip())
    return lines


def named(name: str, text: str, otherwise: str) -> str:
    """Documentation that begins with the name, as Go has it: `Begin starts ...`, else with the sentence `otherwise`."""
    first, _, rest = text.partition(" ")
    if first.endswith("s") and first.isalpha() and first not in NOUNS:
        return f"{name} {first[0].lower()}{first[1:]} {rest}"
    return f"{name} {otherwise}. {text}"


def string(text: str) -> str:
    """A Go string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'
