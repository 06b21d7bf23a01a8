"""`specbind generate`: the header, the shim's generated part and the bindings from the spec, or a check that they match it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn

import click

SPEC = Path("abi", "llama_speculative.yaml")

EPILOG = """\b
Examples:
  specbind generate                          everything, into this checkout
  specbind generate --check                  what CI runs
  specbind generate --lang c --prefix my_spec_ --out build/private

\b
Exit codes:
  0  written, or nothing differs
  1  --check: a file on disk differs
  2  wrong arguments, a wrong spec, or a file that cannot be written
"""


@click.command(epilog=EPILOG)
@click.option("--spec", "spec_path", type=click.Path(path_type=Path), metavar="FILE", help=f"The spec; default is {SPEC}.")
@click.option("--lang", "langs", multiple=True, metavar="NAME", help="Only this back end; may be repeated. Default is all.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Where files go; default is the checkout.")
@click.option("--check", is_flag=True, help="Write nothing; show a unified diff and exit 1 if a file on disk differs.")
@click.option("--prefix", metavar="P", help="Another symbol prefix throughout, such as my_spec_. Needs --out.")
def command(spec_path: Path | None, langs: tuple[str, ...], out: Path | None, check: bool, prefix: str | None) -> None:
    """Write the header, the entry points and the bindings, or check them."""
    from specbind.emit import everything, output
    from specbind.emit.core import NotExpressible

    path, root = locate(spec_path, out)
    if prefix is not None:
        check_prefix(prefix, out)
    try:
        targets = everything.render(path, langs, prefix)
    except everything.UnknownBackend as error:
        fail(f"--lang {error}")
    except NotExpressible as error:
        fail(f"{path}: {error}")

    differs = False
    for name, folders, files in targets:
        found = output.changes(root, files, folders)
        differs = differs or bool(found)
        if check:
            for change in found:
                click.echo(output.unified_diff(change), nl=False)
            continue
        try:
            for change in found:
                output.apply(root, change)
        except OSError as error:
            fail(f"cannot write {error.filename}: {error.strerror}")
        deleted = sum(change.new is None for change in found)
        written = len(found) - deleted
        click.echo(
            f"{name:10} {len(files):3} files: {written} written, {len(files) - written} unchanged"
            + (f", {deleted} stale ones deleted" if deleted else "")
        )
    if check and differs:
        click.echo("Generated files differ from the spec: run `specbind generate`.", err=True)
        raise SystemExit(1)


def locate(spec: Path | None, out: Path | None) -> tuple[Path, Path]:
    """The spec and the output root; without options those of the checkout around the working directory."""
    root = next((folder for folder in (Path.cwd(), *Path.cwd().parents) if (folder / SPEC).is_file()), None)
    if spec is None:
        if root is None:
            fail(f"no {SPEC} here or in a folder above: run this inside a checkout, or name a spec with --spec.")
        return root / SPEC, out or root
    if not spec.is_file():
        fail(f"--spec {spec}: there is no such file.")
    if out is None and (root is None or spec.resolve() != (root / SPEC).resolve()):
        fail(f"--spec {spec}: say with --out where its files go; the checkout holds those of its own spec.")
    return spec, out or root or Path.cwd()


def check_prefix(prefix: str, out: Path | None) -> None:
    """A prefix becomes part of every C name and of file names, and must not overwrite the standard files."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*_", prefix):
        fail(f"--prefix {prefix}: expected lower-case letters, digits and single underscores, ending in one, such as my_spec_.")
    if out is None:
        fail("--prefix needs --out: the checkout holds the files of the standard prefix.")


def fail(message: str) -> NoReturn:
    """End with a message and exit code 2."""
    raise click.UsageError(message)
