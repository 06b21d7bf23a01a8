"""`specbind doctor`: which toolchains and backends this machine has, and how to install the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from specbind.harness.toolchains import Tool
    from specbind.native.backends import Backend

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
        table(found)
        backend_table(backends)
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


def table(found: list[tuple[Tool, str | None]]) -> None:
    from rich.console import Console
    from rich.table import Table

    view = Table(box=None, pad_edge=False)
    for column in ("tool", "found", "used for", "to install"):
        view.add_column(column, overflow="fold")
    for tool, version in found:
        view.add_row(tool.name + (" *" if tool.required else ""), version or "missing", tool.used_for, "" if version else tool.install)
    console = Console(highlight=False)
    console.print(view)
    console.print("* required")


def backend_table(backends: list[Backend]) -> None:
    from rich.console import Console
    from rich.table import Table

    view = Table(box=None, pad_edge=False)
    for column in ("backend", "can be built", "to install"):
        view.add_column(column, overflow="fold")
    for backend in backends:
        missing = backend.missing()
        view.add_row(backend.name + (" *" if backend.required else ""), "no" if missing else "yes", backend.remedy if missing else "")
    console = Console(highlight=False)
    console.print()
    console.print(view)
    console.print("* required in CI; specbind test --backend NAME builds one and runs every strategy on it")
