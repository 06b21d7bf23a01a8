"""`specbind layout`: size and offsets of every struct on every target, from the spec alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from specbind.layout.engine import StructLayout

EPILOG = """\b
Examples:
  specbind layout                                   all structs, one column for each different layout
  specbind layout --target i686-linux --target wasm32
  specbind layout --struct params --format json
  specbind layout include/llama.h -I ggml/include --struct context_params

\b
Exit codes:
  0  shown
  2  wrong arguments, no such file, mistakes in the spec, or a header that does not compile
"""

# struct -> its layout, for one target
Layouts = dict[str, "StructLayout"]


@click.command(epilog=EPILOG)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "-I", "--include", "includes", multiple=True, metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder in which a C header looks for others; may be repeated.",
)  # fmt: skip
@click.option("--target", "names", multiple=True, metavar="NAME", help="Only this target; may be repeated. Default is all.")
@click.option("--struct", "structs", multiple=True, metavar="NAME", help="Only this struct; may be repeated. Default is all.")
@click.option(
    "--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True, help="For people or machines."
)
def command(
    file: Path | None, includes: tuple[Path, ...], names: tuple[str, ...], structs: tuple[str, ...], form: str
) -> None:  # fmt: skip
    """Show size, alignment and offsets of structs, in bytes.

    FILE is a spec, a C header (.h) or what `specbind import` made of one; default is the spec of the checkout.
    """
    from specbind.cheader import open_abi
    from specbind.layout.engine import compute
    from specbind.layout.targets import TARGETS
    from specbind.spec.locate import SPEC, find_spec

    path = file or find_spec(Path.cwd())
    if path is None:
        raise click.UsageError(f"no {SPEC} here or in a folder above: run this inside a checkout, or name a file.")
    one_of("--target", names, list(TARGETS))
    spec = open_abi(path, includes)
    one_of("--struct", structs, [s.name for s in spec.structs])
    targets = [TARGETS[name] for name in names or TARGETS]
    wanted = set(structs or (s.name for s in spec.structs))
    layouts = {
        target.name: {name: layout for name, layout in compute(spec, target).items() if name in wanted} for target in targets
    }
    if form == "json":
        import json

        found = {target: {name: as_dict(layout) for name, layout in each.items()} for target, each in layouts.items()}
        click.echo(json.dumps({"file": str(path), "targets": found}, indent=2))
    else:
        show(layouts)


def as_dict(layout: StructLayout) -> dict[str, object]:
    return {"size": layout.size, "align": layout.align, "fields": [field._asdict() for field in layout.fields]}


def one_of(option: str, given: tuple[str, ...], known: list[str]) -> None:
    """Refuse a name that is not known."""
    from specbind.spec.diagnostics import near

    for name in given:
        if name not in known:
            suggestion = near(name, known)
            hint = f" Did you mean '{suggestion}'?" if suggestion else ""
            raise click.UsageError(f"{option} {name}: unknown.{hint} There are: {', '.join(known)}.")


def show(layouts: dict[str, Layouts]) -> None:
    """One table for each struct, with one column for all targets whose layouts are the same."""
    from rich.console import Console
    from rich.table import Table

    alike: list[tuple[list[str], Layouts]] = []
    for target, each in layouts.items():
        group = next((names for names, known in alike if known == each), None)
        if group is None:
            alike.append(([target], each))
        else:
            group.append(target)
    console = Console()
    for number, (names, _) in enumerate(alike, 1):
        console.print(f"[bold]{number}[/bold]  {', '.join(names)}", highlight=False)
    for name in next(iter(layouts.values())):
        table = Table(title=name, title_justify="left", title_style="bold")
        table.add_column("field")
        for number, _ in enumerate(alike, 1):
            table.add_column(f"{number}: offset", justify="right")
            table.add_column("size", justify="right")
        shapes = [each[name] for _, each in alike]
        for index, field in enumerate(shapes[0].fields):
            places = [shape.fields[index] for shape in shapes]
            table.add_row(field.name, *(str(n) for place in places for n in (place.offset, place.size)))
        table.add_section()
        table.add_row("size", *(n for shape in shapes for n in ("", str(shape.size))))
        table.add_row("alignment", *(n for shape in shapes for n in ("", str(shape.align))))
        console.print()
        console.print(table)
