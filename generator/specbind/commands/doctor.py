"""`specbind doctor`: which toolchains and backends this machine has, and how to install the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from specbind.harness.toolchains import Tool

EPILOG = """\b
Examples:
  specbind doctor
  specbind doctor --format json

\b
Exit codes:
  0  everything that building and testing the shim needs is there
  1  something required is missing; a backend is never required of a machine but of CI
"""


@click.command(epilog=EPILOG)
@click.option("--format", "style", type=click.Choice(["table", "json"]), default="table", show_default=True)
def command(style: str) -> None:
    """Say which toolchains and backends this machine has, and how to install the others."""
    from specbind.harness.backends import all_backends
    from specbind.harness.toolchains import load_toolchains

    backends = list(all_backends().values())
    found = [(tool, version_of(tool)) for tool in load_toolchains()]
    if style == "json":
        import json

        tools = [{"name": t.name, "version": v, "required": t.required, "install": t.install} for t, v in found]
        rows = [{"name": b.name, "missing": list(b.missing()), "required": b.required, "install": b.remedy} for b in backends]
        click.echo(json.dumps({"tools": tools, "backends": rows}, indent=2))
    else:
        table(
            ("tool", "found", "used for", "to install"),
            ((t.name + mark(t.required), v or "missing", t.used_for, "" if v else t.install) for t, v in found),
            "* required",
        )
        click.echo()
        lacking = [(backend, backend.missing()) for backend in backends]
        table(
            ("backend", "can be built", "to install"),
            ((b.name + mark(b.required), "no" if missing else "yes", b.remedy if missing else "") for b, missing in lacking),
            "* required in CI; specbind test --backend NAME builds one and runs every strategy on it",
        )
    if missing := [t.name for t, v in found if v is None and t.required]:
        click.echo(f"Missing and required: {', '.join(missing)}.", err=True)
        raise SystemExit(1)


def version_of(tool: Tool) -> str | None:
    """First line of what the tool says of itself; None if it is not there."""
    import subprocess

    from specbind.native.tools import which

    path = next((p for name in tool.commands if (p := which(name))), None)
    if path is None:
        return None
    try:
        result = subprocess.run([str(path), *tool.version], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = (result.stdout or result.stderr).strip().splitlines()
    return said[0].strip() if said else "found"


def mark(required: bool) -> str:
    return " *" if required else ""


def table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]], foot: str) -> None:
    from rich.console import Console
    from rich.table import Table

    view = Table(box=None, pad_edge=False)
    for heading in headings:
        view.add_column(heading, overflow="fold")
    for row in rows:
        view.add_row(*row)
    console = Console(highlight=False)
    console.print(view)
    console.print(foot)
