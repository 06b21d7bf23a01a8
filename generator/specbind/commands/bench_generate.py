"""`specbind bench generate`: start-up, lint and generation, and how they grow with the spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from specbind.harness.bench_generate import Command, Growth

EPILOG = """\b
Commands are timed as processes. `known` is a spec that was seen before, as committed ones are; `fresh` one that was just edited.

\b
Examples:
  specbind bench generate
  specbind bench generate --repeat 9 --format json > generate.json

\b
Exit codes:
  0  measured, whatever came out
  2  wrong arguments, or not inside a checkout
"""


@click.command(epilog=EPILOG)
@click.option("--repeat", default=5, show_default=True, type=click.IntRange(min=1), metavar="N", help="Runs of each.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True, help="For people or machines.")
def command(repeat: int, form: str) -> None:
    """Measure start-up, lint and generate, of every language, and with specs of twice and four times the size."""
    import tempfile
    from pathlib import Path

    from specbind.harness.bench_generate import commands, growth
    from specbind.native.progress import for_stderr
    from specbind.spec.locate import SPEC, root

    if not (root() / SPEC).is_file():
        raise click.UsageError(f"no {SPEC} here or in a folder above: run this inside a checkout.")
    progress = for_stderr()
    with tempfile.TemporaryDirectory(prefix="specbind-") as temporary:
        folder = Path(temporary)
        with progress.phase("Timing commands"):
            timed = commands(root(), folder, repeat)
        with progress.phase("Timing growth"):
            grown = growth(root(), folder, repeat)
    if form == "json":
        import dataclasses
        import json

        rows = {"commands": [dataclasses.asdict(row) for row in timed], "growth": [dataclasses.asdict(row) for row in grown]}
        click.echo(json.dumps(rows, indent=1))
    else:
        show(timed, grown)


def show(timed: list[Command], grown: list[Growth]) -> None:
    from rich.console import Console
    from rich.table import Table

    from specbind.harness.bench_generate import GOALS, LINEAR, SIZES

    console = Console(highlight=False)
    table = Table("", box=None, pad_edge=False)
    for name in ("known", "fresh", "goal"):
        table.add_column(name, justify="right")
    for row in timed:
        goal = GOALS.get(row.name)
        color = "green" if row.reaches_goal else "red"
        fresh = "" if row.fresh is None else f"{row.fresh:.3f} s"
        table.add_row(row.name, f"[{color}]{row.known:.3f} s[/]", fresh, "" if goal is None else f"{goal:.2f} s")
    console.print(table)
    console.print()
    table = Table("in this process", box=None, pad_edge=False)
    for size in SIZES:
        table.add_column(f"{size}x", justify="right")
    table.add_column("per item", justify="right")
    for each in grown:
        color = "green" if each.is_linear else "red"
        table.add_row(each.name, *(f"{1000 * s:.0f} ms" for s in each.seconds), f"[{color}]{each.factor:.2f}[/]")
    console.print(table)
    slow = [row.name for row in timed if not row.reaches_goal]
    steep = [each.name for each in grown if not each.is_linear]
    console.print(f"\nGoals: {'not reached: ' + ', '.join(slow) if slow else 'all reached'}. "
                  f"Growth: {'not linear: ' + ', '.join(steep) if steep else f'linear, within {LINEAR} times'}.")  # fmt: skip
