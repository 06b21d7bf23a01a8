"""The result of a check: a matrix of structs and views, then each difference in words; or JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specbind.check.header import Assertions
from specbind.check.view import Outcome


@dataclass(frozen=True)
class Checked:
    """All of it. `host` is the target whose numbers the views were compared with."""

    library: Path
    header: Path
    host: str
    structs: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    targets: tuple[Assertions, ...]
    targets_required: bool

    @property
    def agrees(self) -> bool:
        asserted = not any(each.faults or (each.skipped and self.targets_required) for each in self.targets)
        return asserted and all(outcome.agrees for outcome in self.outcomes)

    def rows(self) -> list[str]:
        return [*self.structs, "constants", "functions"]

    def cell(self, outcome: Outcome, row: str) -> list[str]:
        """What differs there: fields of a struct, or names; empty if nothing does."""
        return [part for finding in outcome.findings for group, part in [place(finding.item)] if group == row]


def place(item: str) -> tuple[str, str]:
    """Row of the matrix and what to write there, of a finding's item such as `struct params.n_threads`."""
    kind, _, name = item.partition(" ")
    if kind == "struct":
        struct, _, field = name.partition(".")
        return struct, field or "size"
    return ("functions", name) if kind == "function" else ("constants", name)


def as_json(checked: Checked) -> str:
    """Keys are stable: they are added to, not changed."""
    views: list[dict[str, Any]] = [
        {
            "name": outcome.view.name,
            "status": outcome.status,
            "reason": outcome.view.failed or outcome.view.skipped,
            "differences": [{"item": f.item, "message": f.message, "spec": f.old, "found": f.new} for f in outcome.findings],
        }
        for outcome in checked.outcomes
    ]
    matrix = {
        row: {o.view.name: checked.cell(o, row) if o.view.table else None for o in checked.outcomes} for row in checked.rows()
    }
    targets = [{"name": each.target, "faults": list(each.faults), "skipped": each.skipped} for each in checked.targets]
    result = {
        "verdict": "agree" if checked.agrees else "disagree",
        "library": str(checked.library), "header": str(checked.header), "host": checked.host,
        "views": views, "matrix": matrix, "targets": targets,
    }  # fmt: skip
    return json.dumps(result, indent=2, ensure_ascii=False)


def show(checked: Checked) -> None:
    """The same for people."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, title=f"against the spec, on {checked.host}", title_justify="left")
    table.add_column("struct")
    for outcome in checked.outcomes:
        table.add_column(outcome.view.name, overflow="fold")
    for row in checked.rows():
        table.add_row(row, *(mark(outcome, checked.cell(outcome, row)) for outcome in checked.outcomes))
    console.print(table)
    console.print()
    for outcome in checked.outcomes:
        name = outcome.view.name
        for finding in outcome.findings:
            console.print(f"[red]{name}[/red]: {escape(finding.item)}: {escape(finding.message)}", soft_wrap=True)
        if reason := outcome.view.failed or outcome.view.skipped:
            colour = "yellow" if outcome.agrees else "red"
            required = " and required" if outcome.status == "missing" else ""
            console.print(f"[{colour}]{name}[/{colour}]: {'failed' if outcome.view.failed else 'skipped'}{required}: {escape(reason)}", soft_wrap=True)
    asserted = [each for each in checked.targets if not each.faults and not each.skipped]
    for each in checked.targets:
        for fault in each.faults:
            console.print(f"[red]{each.target}[/red]: {escape(fault)}", soft_wrap=True)
    skipped = next((each.skipped for each in checked.targets if each.skipped), "")
    console.print(f"The header's assertions hold on {len(asserted)} of {len(checked.targets)} targets." + (f" {escape(skipped)}" if skipped else ""))
    console.print("[green]All agree.[/green]" if checked.agrees else "[bold red]There are differences.[/bold red]")


def mark(outcome: Outcome, differing: list[str]) -> str:
    from rich.markup import escape

    if outcome.view.table is None:
        return "[red]failed[/red]" if outcome.view.failed else "[yellow]-[/yellow]"
    if not differing:
        return "[green]ok[/green]"
    more = f" +{len(differing) - 1}" if len(differing) > 1 else ""
    return f"[bold red]{escape(differing[0])}{more}[/bold red]"
