"""`specbind baseline`: the ABI of a release as a file, written only if the version fits what changed."""

from __future__ import annotations

from pathlib import Path

import click

EPILOG = """\b
Examples:
  specbind baseline                 show what the baseline of this spec would be
  specbind baseline --release       write abi/baselines/VERSION.yaml

\b
Exit codes:
  0  shown, written, or there already
  1  refused: the changes since the last release demand a higher version, or a waiver is at fault
  2  wrong arguments, no such file, or mistakes in the spec
"""


@click.command(epilog=EPILOG)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--release", is_flag=True, help="Write it to abi/baselines, unless the changes demand a higher version.")
@click.option(
    "--waivers", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Breaks that do not count. Default: ci/abi-waivers.yaml.",
)  # fmt: skip
def command(file: Path | None, release: bool, waivers: Path | None) -> None:
    """Write down the ABI of a spec, to compare later versions with. FILE is the spec; default is that of the checkout."""
    from specbind.diff.baseline import dump
    from specbind.spec.load import load
    from specbind.spec.locate import SPEC, find_spec

    path = file or find_spec(Path.cwd())
    if path is None:
        raise click.UsageError(f"no {SPEC} here or in a folder above: run this inside a checkout, or name a file.")
    spec = load(path)
    if not release:
        click.echo(dump(spec), nl=False)
        return
    from specbind.diff.release import write

    click.echo(write(spec, waivers))
