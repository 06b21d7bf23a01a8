"""`specbind check`: whether everything that was built and generated agrees with the spec."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from specbind.check.report import Checked

EPILOG = """\b
Examples:
  specbind check                                    all that this machine can look at
  specbind check --require rust --require go        these may not be skipped
  specbind check --library build/libllama_speculative.so --language python --format json

\b
Exit codes:
  0  all agree; what cannot be looked at here is shown as skipped
  1  something differs, a tool failed, or a required view is missing
  2  wrong arguments, no library, or mistakes in the spec
"""


@click.command(epilog=EPILOG)
@click.option("--library", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Default is LLAMA_SPECULATIVE_LIB, then the latest build.")
@click.option("--header", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Default is the one in native/include.")
@click.option("--language", "languages", multiple=True, metavar="NAME", help="Only this language; may be repeated. Default is all.")
@click.option("--require", "required", multiple=True, metavar="NAME", help="An error if this view is skipped; `all` for every one; may be repeated.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True, help="For people or machines.")
def command(library: Path | None, header: Path | None, languages: tuple[str, ...], required: tuple[str, ...], form: str) -> None:
    """Compare spec, header, library, exported symbols and each language's own view of the ABI.

    The header's assertions are compiled for every target too. A language is looked at if its toolchain is there; those that
    ci/toolchains.yaml requires, or --require, must be.
    """
    from specbind.check.languages import LANGUAGES
    from specbind.check.report import as_json, show
    from specbind.commands.layout import one_of
    from specbind.native import NativeError, find_library

    one_of("--language", languages, list(LANGUAGES))
    one_of("--require", required, [*LANGUAGES, "header", "targets", "all"])
    try:
        checked = look(library or find_library(), header, languages or tuple(LANGUAGES), frozenset(required))
    except NativeError as error:
        raise click.UsageError(str(error)) from None
    if form == "json":
        click.echo(as_json(checked))
    else:
        show(checked)
    raise SystemExit(0 if checked.agrees else 1)


def look(library: Path, header: Path | None, languages: tuple[str, ...], required: frozenset[str]) -> Checked:
    """All views, one after the other; a line on a terminal says which."""
    import yaml
    from rich.console import Console

    from specbind.check.header import assert_everywhere, header_view
    from specbind.check.languages import LANGUAGES, language_view
    from specbind.check.report import Checked
    from specbind.check.view import View, judge
    from specbind.diff.library import host_target, read_library
    from specbind.diff.table import of_spec
    from specbind.emit.c.naming import CNaming
    from specbind.native.paths import checkout
    from specbind.spec.load import load
    from specbind.spec.locate import SPEC

    root = checkout()
    spec = load(root / SPEC)
    header = header or root / "native" / "include" / f"{CNaming(spec).library}.h"
    toolchains = {row["name"]: row for row in yaml.safe_load((root / "ci" / "toolchains.yaml").read_text(encoding="utf-8"))["tools"]}
    host = host_target()
    expected = of_spec(spec, host)

    def must(name: str, toolchain: str = "") -> bool:
        return bool(required & {name, "all"}) or bool(toolchain and toolchains[toolchain]["required"])

    with Console(stderr=True).status("header") as status:
        outcomes = [judge(expected, header_view(spec, header, host), required=must("header"))]
        status.update("library")
        outcomes.append(judge(expected, View("library", library.name, read_library(library).table)))
        for name in languages:
            language = LANGUAGES[name]
            status.update(language.title)
            hint = toolchains[language.toolchain]["install"] if language.toolchain else ""
            outcomes.append(judge(expected, language_view(name, root / "bindings_out", hint), required=must(name, language.toolchain)))
        status.update("the header on every target")
        targets = assert_everywhere(spec, header)
    return Checked(library, header, host.name, tuple(s.name for s in spec.structs), tuple(outcomes), tuple(targets), must("targets"))
