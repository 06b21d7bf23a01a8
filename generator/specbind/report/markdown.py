"""For a comment on a pull request: the verdict on top, a table, and what each rule says, folded."""

from __future__ import annotations

import html
import re

from specbind.diff.finding import Comparison, Finding, Verdict
from specbind.diff.rules import Rule, rules
from specbind.diff.versions import bump
from specbind.report.words import place, side, summary

MARK = "<!-- specbind diff -->"  # by which a workflow finds its own comment again
LIMIT = 60_000  # characters; hosts refuse comments of more than 65,536
SIGNS = {Verdict.NONE: "⚪", Verdict.ADDITIVE: "🟢", Verdict.SOURCE: "🟡", Verdict.BINARY: "🔴", Verdict.MEANING: "🟣"}


def render(comparison: Comparison) -> str:
    """GitHub-flavoured Markdown, short enough to be a comment."""
    step = bump(comparison.findings)
    parts = [
        f"{MARK}\n## {SIGNS[comparison.verdict]} ABI: {comparison.verdict.label}",
        f"{text(side(comparison.old))} → {text(side(comparison.new))}: {summary(comparison)}."
        + (f" The version must rise by at least a **{step}** step." if step else ""),
    ]
    if comparison.errors:
        parts.append("### Errors of this run\n\n" + "\n".join(f"- {text(error)}" for error in comparison.errors))
    if comparison.findings:
        parts += fitting([row(f) for f in comparison.findings], comparison, sum(map(len, parts)))
    return "\n\n".join(parts) + "\n"


def fitting(rows: list[str], comparison: Comparison, used: int) -> list[str]:
    """The table and the explanations, as far as there is room for them; what is left out is counted."""
    head = "| verdict | item | change | rule | place |\n|---|---|---|---|---|"
    room = LIMIT - used - len(head)
    shown: list[str] = []
    for each in rows:
        room -= len(each) + 1
        if room < 0:
            break
        shown.append(each)
    parts = ["\n".join([head, *shown])]
    if left := len(rows) - len(shown):
        parts.append(f"{left} more: the report in JSON has all of them.")
    for name in dict.fromkeys(f.rule for f in comparison.findings if f.verdict >= Verdict.SOURCE):
        folded = details(rules()[name])
        room -= len(folded) + 2
        if room < 0:
            break
        parts.append(folded)
    return parts


def row(finding: Finding) -> str:
    change = text(finding.message)
    if finding.targets:
        change += f"<br>only on {text(', '.join(finding.targets))}"
    if finding.waiver:
        waiver = finding.waiver
        change += f"<br>**waived** by {text(waiver.owner)} until {text(waiver.expires)}: {text(waiver.reason)}"
    sign = "⚪" if finding.waiver else SIGNS[finding.verdict]
    cells = (f"{sign} {finding.verdict.label}", code(finding.item), change, code(finding.rule), text(place(finding.span)))
    return f"| {' | '.join(cells)} |"


def details(rule: Rule) -> str:
    felt = "\n".join(f"- {'every language' if name == 'all' else text(name)}: {text(how)}" for name, how in rule.languages.items())
    return (
        f"<details><summary>{code(rule.id)}: {text(rule.title)}</summary>\n\n"
        f"{text(rule.why)}\n\n{felt}\n\n**Instead:** {text(rule.instead)}\n\n</details>"
    )


def text(given: str) -> str:
    """As it stands, whatever signs are in it: no markup, no mention of a person, one line."""
    line = " ".join(given.split())
    escaped = re.sub(r"([\\`*_{}\[\]|~#])", r"\\\1", html.escape(line, quote=False))
    return escaped.replace("@", "@&#8203;")


def code(given: str) -> str:
    """Shown as code; in HTML, because a table's cell ends at a bar even inside backticks."""
    return f"<code>{html.escape(' '.join(given.split()), quote=False).replace('|', '&#124;')}</code>"
