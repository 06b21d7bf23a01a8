"""`specbind diff`: what changed between two ABIs, and what it breaks."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from specbind.diff.finding import Comparison
    from specbind.diff.sides import Reading

EPILOG = """\b
Examples:
  specbind diff --against-release                           the newest baseline against the spec of the checkout
  specbind diff git:main:abi/llama_speculative.yaml abi/llama_speculative.yaml
  specbind diff 1.2.0 1.3.0                                 two releases
  specbind diff --against-release --report sarif=abi.sarif --report junit=abi.xml
  specbind diff abi/llama_speculative.yaml libllama_speculative.so
  specbind diff -I ggml/include old/llama.h new/llama.h --prefix llama_

\b
Exit codes:
  0  nothing changed, or only in ways that old sources and old binaries do not notice
  1  a waiver expired or matches nothing
  2  wrong arguments, a side that cannot be read, or mistakes in a file
  3  source break: old sources may not compile
  4  binary break: old binaries crash or fail to load
  5  meaning break: everything compiles and links, and does something else

docs/gate.md says more; `specbind explain RULE` explains a rule.
"""

FORMATS = ("text", "json", "markdown", "sarif", "junit")


@click.command(epilog=EPILOG)
@click.argument("old", required=False)
@click.argument("new", required=False)
@click.option("--against-release", is_flag=True, help="OLD is the newest file in abi/baselines; NEW is the spec unless given.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="For people or machines.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write there instead of to the terminal.")
@click.option(
    "--report", "reports", multiple=True, metavar="FORM=FILE", help="Write this form to a file as well; may be repeated."
)
@click.option(
    "--waivers", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Breaks that somebody answers for. Default with --against-release: ci/abi-waivers.yaml.",
)  # fmt: skip
@click.option(
    "-I", "--include", "includes", multiple=True, metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder in which C headers look for others; may be repeated.",
)  # fmt: skip
@click.option("--prefix", metavar="TEXT", help="What the names in C headers begin with.")
def command(
    old: str | None, new: str | None, against_release: bool, form: str, output: Path | None, reports: tuple[str, ...],
    waivers: Path | None, includes: tuple[Path, ...], prefix: str | None,
) -> None:  # fmt: skip
    """Say what changed from OLD to NEW, what it breaks, and who feels it.

    Each side is a spec, baseline or imported header (.yaml), a C header (.h), a built library (.so, .dylib, .dll), the
    version of a release, or git:REF:PATH.
    """
    from specbind.diff.sides import Reading

    if against_release and new is not None:
        raise click.UsageError("--against-release is the OLD side: give NEW only.")
    if not against_release and (old is None or new is None):
        raise click.UsageError("give OLD and NEW, or --against-release.")
    files = [report_file(each) for each in reports]
    reading = Reading(includes, prefix)
    comparison = release(old, reading, waivers) if against_release else both(str(old), str(new), reading, waivers)
    for kind, path in files:
        show(comparison, kind, path)
    show(comparison, form, output)
    raise SystemExit(exit_code(comparison))


def report_file(given: str) -> tuple[str, Path]:
    """Form and file of `FORM=FILE`."""
    form, _, path = given.partition("=")
    if form not in FORMATS or not path:
        raise click.UsageError(f"--report {given}: write FORM=FILE, such as sarif=abi.sarif. Forms: {', '.join(FORMATS)}.")
    return form, Path(path)


def exit_code(comparison: Comparison) -> int:
    """The code of the verdict; breaks outweigh faults of waivers."""
    from specbind.diff.finding import Verdict

    broken = comparison.verdict
    return broken + 1 if broken >= Verdict.SOURCE else 1 if comparison.errors else 0


def both(old: str, new: str, reading: Reading, waivers: Path | None) -> Comparison:
    """Compare two sides."""
    from specbind.diff.finding import Comparison
    from specbind.diff.sides import compare_sides, open_pair
    from specbind.spec.locate import BASELINES, root

    folder = root() / BASELINES
    before, after = open_pair(old, new, reading, folder)
    return waived(Comparison(before.side, after.side, compare_sides(before, after, reading)), waivers)


def release(new: str | None, reading: Reading, waivers: Path | None) -> Comparison:
    """Compare the newest release with `new` or the spec of the checkout."""
    from specbind.diff.baseline import newest
    from specbind.diff.finding import Comparison, Side
    from specbind.diff.sides import open_side
    from specbind.diff.waivers import FILE
    from specbind.spec.locate import BASELINES, SPEC, root, shown

    if new is None and not (root() / SPEC).is_file():
        raise click.UsageError(f"no {SPEC} here or in a folder above: run this inside a checkout, or name NEW.")
    new = new or shown(root() / SPEC)
    known = waivers or (root() / FILE if (root() / FILE).is_file() else None)
    baseline = newest(root() / BASELINES)
    if baseline is not None:
        return both(shown(baseline), new, reading, known)
    click.echo(f"There is no release yet: {shown(root() / BASELINES)} holds no baseline, so there is nothing to break.", err=True)
    return waived(Comparison(Side("no release yet", "", ""), open_side(new, reading, root() / BASELINES).side, ()), known)


def waived(comparison: Comparison, waivers: Path | None) -> Comparison:
    """The comparison with its waivers applied."""
    if waivers is None:
        return comparison
    from dataclasses import replace
    from datetime import date

    from specbind.diff.waivers import apply, load

    findings, errors = apply(comparison.findings, load(waivers), date.today())
    return replace(comparison, findings=findings, errors=errors)


def show(comparison: Comparison, form: str, output: Path | None) -> None:
    from specbind.report import render

    color = output is None and form == "text" and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    text = render(comparison, form, color=color)
    if output is None:
        click.echo(text, nl=not text.endswith("\n"))
        return
    from specbind.emit.output import Change, apply

    apply(output.parent, Change(output.name, None, text))
