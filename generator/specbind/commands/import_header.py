"""`specbind import`: the ABI of a C header as a file, for any C library."""

from __future__ import annotations

from pathlib import Path

import click

EPILOG = """\b
Examples:
  specbind import include/llama.h -I ggml/include -o llama-1.yaml
  specbind diff llama-1.yaml include/llama.h -I ggml/include     what changed since
  specbind layout llama-1.yaml --struct context_params           on every platform

\b
Exit codes:
  0  written; what the file cannot say is listed in it and on the terminal
  2  wrong arguments, no such file, a header that does not compile, or libclang is missing
"""


@click.command(epilog=EPILOG)
@click.argument("header", type=click.Path(path_type=Path))
@click.option(
    "-I", "--include", "includes", multiple=True, metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder in which the header looks for others; may be repeated.",
)  # fmt: skip
@click.option("--prefix", metavar="TEXT", help="What the library's names begin with. Default: the word most functions begin with.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write there instead of to the terminal.")
@click.option("--format", "form", type=click.Choice(["yaml", "json"]), default="yaml", show_default=True, help="Of the file.")
def command(header: Path, includes: tuple[Path, ...], prefix: str | None, output: Path | None, form: str) -> None:
    """Write down the ABI that a C header declares: functions, structs, enums, callbacks, constants."""
    from specbind.cheader import read_header
    from specbind.cheader.document import dump

    imported = read_header(header, include=includes, prefix=prefix)
    text = dump(imported, form)
    if output is None:
        click.echo(text, nl=False)
    else:
        from specbind.emit.output import Change, apply

        apply(output.parent, Change(output.name, None, text))
        spec = imported.spec
        items = f"{len(spec.functions)} functions, {len(spec.structs)} structs, {len(spec.enums)} enums"
        click.echo(f"{output}: {items}, {len(spec.callbacks)} callbacks, {len(spec.constants)} constants")
    for each in imported.left_out:
        click.echo(f"left out: {each.item}: {each.reason}", err=True)
