"""`specbind lint`: every mistake in a spec, the way a compiler shows it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from specbind.spec.diagnostics import Diagnostic

EPILOG = """\b
Examples:
  specbind lint                           the spec of this checkout
  specbind lint my_abi.yaml --format json

\b
Exit codes:
  0  no mistakes
  1  mistakes were found
  2  wrong arguments, or no such file
"""


@click.command(epilog=EPILOG)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="For people or machines."
)
def command(file: Path | None, form: str) -> None:
    """Check a spec and show every mistake with its place. FILE is the spec; default is that of the checkout."""
    from specbind.spec.locate import SPEC, find_spec

    path = file or find_spec(Path.cwd())
    if path is None:
        raise click.UsageError(f"no {SPEC} here or in a folder above: run this inside a checkout, or name a file.")
    items, found = checked(path)
    if form == "json":
        import json

        from specbind.spec.diagnostics import as_json

        click.echo(json.dumps({"file": str(path), "count": len(found), "diagnostics": as_json(found)}, indent=2))
    elif found:
        from specbind.spec.diagnostics import render

        click.echo(render(found, color=True))
    else:
        click.echo(f"{path}: no mistakes ({items})")
    if found:
        raise SystemExit(1)


def checked(path: Path) -> tuple[str, list[Diagnostic]]:
    """What a spec without mistakes holds, or the mistakes. A text that had none has none until this package changes."""
    from specbind import cache
    from specbind.emit.everything import state

    name = cache.key(state(), path.read_bytes().decode("utf-8", "surrogateescape"))
    known = cache.recall("clean", name)
    if known is not None:
        return known.decode(), []
    from specbind.emit.core import backends
    from specbind.spec.load import check

    spec, found = check(path, backends().values())
    if spec is None:
        return "", found
    items = f"{len(spec.functions)} functions, {len(spec.structs)} structs, {len(spec.enums)} enums"
    cache.keep("clean", name, items.encode())
    return items, []
