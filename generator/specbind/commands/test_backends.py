"""`specbind test --backend`: every strategy on every backend, as one table."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from specbind.harness.backend_table import Column
    from specbind.harness.backends import Outcome


def run(given: str, form: str, record: bool) -> bool:
    """Build and run the backends, show the table. Whether nothing is wrong. Raises NativeError for a name that is none."""
    from specbind.harness import backend_table as tables
    from specbind.harness.backends import all_backends, names, run_backend
    from specbind.native.progress import for_stderr

    progress = for_stderr()
    with tempfile.TemporaryDirectory() as folder:
        outcomes = [run_backend(name, Path(folder), progress) for name in names(given)]
    if form == "json":
        click.echo(as_json(outcomes))
    else:
        show([tables.column(outcome) for outcome in outcomes])
    if record:
        for path in tables.record(outcomes, list(all_backends())):
            click.echo(path)
    failures = [line for outcome in outcomes for line in outcome.failures]
    for line in failures:
        click.echo(line, err=True)
    return not failures


def as_json(outcomes: list[Outcome]) -> str:
    """Keys are stable: they are added to, not changed."""
    import json

    rows = {
        o.backend.name: {"required": o.backend.required, "ran": bool(o.report), "reason": o.reason, "failures": o.failures, **o.report}
        for o in outcomes
    }
    return json.dumps(rows, indent=1)


def show(columns: list[Column]) -> None:
    """Strategies and checks down, backends with results across; then a line for each backend."""
    from rich.console import Console
    from rich.table import Table

    from specbind.harness.backend_table import rows

    table = Table(box=None, pad_edge=False)
    seen = [column for column in columns if column.cells]
    table.add_column("strategy or check", no_wrap=True)
    for column in seen:
        table.add_column(column.name, overflow="fold")
    for row in rows(seen):
        table.add_row(*row)
    console = Console(highlight=False)
    console.print(table)
    for column in columns:
        console.print(f"{column.name}: {column.foot}", markup=False, soft_wrap=True)
