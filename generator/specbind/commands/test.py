"""`specbind test`: the tests, or the table of every shared case in every language."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from specbind.harness.matrix import Matrix

EPILOG = """\b
What follows `--` goes to pytest.

\b
Examples:
  specbind test
  specbind test -- tests/behaviour -k rollback
  specbind test --matrix

\b
Exit codes:
  0  everything passed
  1  something failed, or a language that had to run did not
  2  wrong usage
"""


@click.command(epilog=EPILOG)
@click.option("--backend", metavar="NAME", help="Build and test this row of ci/backends.yaml. Default is the one built last, or cpu.")
@click.option("--matrix", is_flag=True, help="Run the shared cases alone and show languages and cases.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True, help="Of the matrix.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(backend: str | None, matrix: bool, form: str, arguments: tuple[str, ...]) -> None:
    """Run the tests, or show every shared case in every language."""
    from specbind import native
    from specbind.native.paths import checkout
    from specbind.native.progress import for_stderr

    try:
        root = checkout()
        chosen = {}
        if backend:
            chosen["LLAMA_SPECULATIVE_LIB"] = str(native.build(backend=backend, progress=for_stderr()).library)
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
