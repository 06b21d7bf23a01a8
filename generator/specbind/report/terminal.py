"""For a person at a terminal: the verdict, then two lines for each change. `specbind explain` has the long text."""

from __future__ import annotations

import click

from specbind.diff.finding import Comparison, Finding, Verdict
from specbind.report.words import place, printable, side, summary

COLOURS = {
    Verdict.NONE: "bright_black",
    Verdict.ADDITIVE: "green",
    Verdict.SOURCE: "yellow",
    Verdict.BINARY: "red",
    Verdict.MEANING: "magenta",
}
INDENT = " " * 15  # the longest label, and two blanks


def render(comparison: Comparison, *, color: bool = False) -> str:
    """Plain text, or with ANSI colours."""
    lines = [
        f"{click.style(comparison.verdict.label, fg=COLOURS[comparison.verdict], bold=True)}: {summary(comparison)}",
        f"{side(comparison.old)} -> {side(comparison.new)}",
    ]
    for finding in comparison.findings:
        lines += ["", *about(finding)]
    if comparison.errors:
        lines += ["", *(f"{click.style('error', fg='red', bold=True)}: {error}" for error in comparison.errors)]
    if worst := next((f for f in comparison.findings if f.counts >= Verdict.SOURCE), None):
        lines += ["", f"`specbind explain {worst.rule}` says what to do instead."]
    text = "\n".join(lines) + "\n"
    return text if color else click.unstyle(text)


def about(finding: Finding) -> list[str]:
    label = "waived" if finding.waiver else finding.verdict.label
    colour = COLOURS[finding.counts]
    head = click.style(f"{label:{len(INDENT)}}", fg=colour, bold=not finding.waiver)
    lines = [f"{head}{click.style(printable(finding.item), bold=True)}: {printable(finding.message)} [{finding.rule}]"]
    if where := place(finding.span):
        lines.append(f"{INDENT}{where}")
    if finding.targets:
        lines.append(f"{INDENT}only on {', '.join(finding.targets)}")
    if finding.waiver:
        lines.append(f"{INDENT}{printable(finding.waiver.reason)} ({finding.waiver.owner}, until {finding.waiver.expires})")
    return lines
