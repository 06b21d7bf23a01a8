"""`specbind bench decode`: plain decoding, llama.cpp's own loop and this library's, alternating."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from specbind.harness.bench_decode import Row

EPILOG = """\b
llama.cpp's own loop is its example program, built from the same tree (some minutes, once). Times are of the rounds alone.
Allocations are what one more round costs.

\b
Examples:
  specbind bench decode
  specbind bench decode --suite smollm2 --repeat 9
  specbind bench decode --format json > decode.json

\b
Exit codes:
  0  measured, whatever came out
  1  something could not be built, fetched or run
"""


@click.command(epilog=EPILOG)
@click.option("--suite", "suites", multiple=True, type=click.Choice(["oracle", "tiny-mtp", "smollm2", "gemma3"]), help="Default is all.")
@click.option("--repeat", default=5, show_default=True, type=click.IntRange(min=1), metavar="N", help="Runs of each, alternating.")
@click.option("--threads", default=1, show_default=True, type=click.IntRange(min=1), metavar="N", help="Threads for the real models.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True, help="For people or machines.")
def command(suites: tuple[str, ...], repeat: int, threads: int, form: str) -> None:
    """Compare the speed of plain decoding, llama.cpp's own loop and this library."""
    import tempfile
    from pathlib import Path

    from specbind import native
    from specbind.harness.bench_decode import SUITES, generations, measure
    from specbind.harness.decode import DecodeProgram
    from specbind.harness.upstream import UpstreamLoop
    from specbind.native.progress import for_stderr
    from specbind.native.upstream import upstream_loop

    progress = for_stderr()
    rows = []
    try:
        with tempfile.TemporaryDirectory(prefix="specbind-") as temporary:
            folder = Path(temporary)
            program = DecodeProgram(native.build(progress=progress), folder)
            upstream = UpstreamLoop(upstream_loop(progress))
            for suite in suites or SUITES:
                for title, generation in generations(suite, folder / "models", progress, threads):
                    with progress.phase(f"{suite}: {title}"):
                        rows.append(measure(suite, title, generation, program, upstream, repeat))
    except native.NativeError as error:
        click.echo(f"specbind bench decode: {error}", err=True)
        raise SystemExit(1) from None
    if form == "json":
        import dataclasses
        import json

        click.echo(json.dumps([dataclasses.asdict(row) for row in rows], indent=1))
    else:
        show(rows)


def show(rows: list[Row]) -> None:
    from rich.console import Console
    from rich.table import Table

    from specbind.harness.bench_decode import GOALS

    table = Table(box=None, pad_edge=False)
    columns = ("", "plain t/s", "llama.cpp t/s", "ours t/s", "/plain", "/llama.cpp", "accepted", "theirs", "draft", "decode", "process", "sample", "allocations")
    for name in columns:
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    suite = ""
    for row in rows:
        if row.suite != suite:
            suite = row.suite
            table.add_row(f"[bold]{suite}[/]")
        parts = row.ours.parts or {}
        table.add_row(
            row.title, f"{row.plain.rate:.0f}", f"{row.upstream.rate:.0f}", f"{row.ours.rate:.0f}", f"{row.over_plain:.2f}",
            f"[{'green' if row.reaches_goal else 'red'}]{row.over_upstream:.2f}[/]",
            f"{row.ours.accepted}/{row.ours.drafted}", f"{row.upstream.accepted}/{row.upstream.drafted}",
            *(f"{parts[name] / row.ours.seconds:.0%}" for name in ("draft", "decode", "process", "sample")),
            f"{row.allocations[1]:.0f} ({row.allocations[0]:.0f})",
        )  # fmt: skip
    console = Console(highlight=False, width=None if Console().is_terminal else 200)
    console.print(table)
    missed = [f"{row.title} ({row.over_upstream:.2f})" for row in rows if not row.reaches_goal]
    goals = ", ".join(f"{name} {goal}" for name, goal in GOALS.items())
    console.print(f"\nGoals against llama.cpp's loop: {goals}. " + (f"Not reached: {', '.join(missed)}." if missed else "All reached."))
    more = [row.title for row in rows if row.allocates_more]
    console.print(f"Allocations per round, llama.cpp's in brackets: {'more for ' + ', '.join(more) if more else 'never more'}.")
