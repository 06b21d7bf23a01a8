"""`specbind test`: the tests, the table of every shared case in every language, or that of every strategy on every backend."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from specbind.harness.matrix import Matrix

EPILOG = """\b
What follows `--` goes to pytest; with --backend it then tests the library of that one backend.

\b
Examples:
  specbind test
  specbind test -- tests/behaviour -k rollback
  specbind test --matrix
  specbind test --backend all
  specbind test --backend cuda --record             and keep the result under docs/backends
  specbind test --backend blas -- tests/behaviour

\b
Exit codes:
  0  everything passed
  1  something failed, or a language or a backend that had to run did not
  2  wrong usage
"""


@click.command(epilog=EPILOG)
@click.option("--backend", metavar="NAME", help="Rows of ci/backends.yaml, separated by commas, or `all`: build each and run every strategy on it.")
@click.option("--matrix", is_flag=True, help="Run the shared cases alone and show languages and cases.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True, help="Of the tables.")
@click.option("--record", is_flag=True, help="With --backend: write the results to docs/backends, to be committed.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(backend: str | None, matrix: bool, form: str, record: bool, arguments: tuple[str, ...]) -> None:
    """Run the tests, or show every shared case in every language, or every strategy on every backend."""
    if record and (not backend or arguments):
        raise click.UsageError("--record keeps the results of --backend: give it, without arguments for pytest.")
    if backend and matrix:
        raise click.UsageError("--backend and --matrix are two tables: give one of them.")
    from specbind import native
    from specbind.native.paths import checkout
    from specbind.native.progress import for_stderr

    try:
        root = checkout()
        chosen = {}
        if backend and not arguments:
            from specbind.commands.test_backends import run

            raise SystemExit(0 if run(backend, form, record) else 1)
        if backend:
            chosen["LLAMA_SPECULATIVE_LIB"] = str(native.build(backend=backend, latest=False, progress=for_stderr()).library)
    except native.NativeError as error:
        click.echo(f"specbind test: {error}", err=True)
        raise SystemExit(1) from None
    if not matrix:
        pytest = [sys.executable, "-m", "pytest", *arguments]
        raise SystemExit(min(1, subprocess.run(pytest, cwd=root, env={**os.environ, **chosen}, check=False).returncode))

    from specbind.harness.matrix import run_matrix

    result = run_matrix(root, {**os.environ, **chosen}, arguments)
    if form == "json":
        import json

        click.echo(json.dumps(result.as_json(), indent=1))
    else:
        show(result)
    for line in result.failures():
        click.echo(line, err=True)
    if result.failures():
        raise SystemExit(1)


def show(matrix: Matrix) -> None:
    """Cases down, languages across."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("case", *matrix.languages):
        table.add_column(name, no_wrap=True)
    for case in matrix.cases:
        table.add_row(case, *(matrix.cell(language, case) for language in matrix.languages))
    Console().print(table)
