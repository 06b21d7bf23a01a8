"""`specbind bench languages`: the same generation from C and from every language, alternating."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from specbind.harness.bench_languages import Row

EPILOG = """\b
A language without its toolchain is left out and named. Times are of the stream, from the prompt to the last piece.

\b
Examples:
  specbind bench languages
  specbind bench languages --suite oracle --repeat 9
  specbind bench languages --format json > languages.json

\b
Exit codes:
  0  measured, whatever came out
  1  something could not be built, fetched or run
"""
SUITES = ("oracle", "smollm2")


@click.command(epilog=EPILOG)
@click.option("--suite", "suites", multiple=True, type=click.Choice(SUITES), help="Default is all.")
@click.option("--repeat", default=5, show_default=True, type=click.IntRange(min=1), metavar="N", help="Runs of each, alternating.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True, help="For people or machines.")
def command(suites: tuple[str, ...], repeat: int, form: str) -> None:
    """Compare what a session costs in every language with what it costs in C."""
    import tempfile
    from pathlib import Path

    from specbind import native
    from specbind.harness.bench_languages import measure, oracle_case, runners, smollm2_case
    from specbind.harness.llama import Llama
    from specbind.native.progress import for_stderr

    progress = for_stderr()
    rows = []
    try:
        with tempfile.TemporaryDirectory(prefix="specbind-") as temporary:
            folder = Path(temporary)
            build = native.build(progress=progress)
            helper = Llama(build.lib_dir, build.include_dirs, folder).path
            found, missing = runners(build, helper, progress)
            for suite in suites or SUITES:
                case = oracle_case(folder / "models") if suite == "oracle" else smollm2_case(build, progress)
                rows += measure(suite, case, found, repeat, progress)
    except native.NativeError as error:
        click.echo(f"specbind bench languages: {error}", err=True)
        raise SystemExit(1) from None
    for language in missing:
        click.echo(f"{language}: left out, its toolchain is missing (see specbind doctor)", err=True)
    if form == "json":
        import dataclasses
        import json

        click.echo(json.dumps([dataclasses.asdict(row) for row in rows], indent=1))
    else:
        show(rows)


def show(rows: list[Row]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("", "rounds", "µs/round", "µs/round over C", "tokens/s"):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    suite = ""
    for row in rows:
        if row.suite != suite:
            suite = row.suite
            table.add_row(f"[bold]{suite}[/]")
        table.add_row(row.language, str(row.rounds), f"{row.us_per_round:.1f}", f"{row.us_over_c:+.1f}", f"{row.tokens_per_second:.1f}")
    Console().print(table)
