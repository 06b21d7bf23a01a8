"""`specbind explain`: the page behind a diagnostic's code."""

from __future__ import annotations

import click

EPILOG = """\b
Examples:
  specbind explain SB012
  specbind explain          all codes

\b
Exit codes:
  0  shown
  2  wrong arguments, or no such code
"""


@click.command(epilog=EPILOG)
@click.argument("code", required=False)
def command(code: str | None) -> None:
    """Explain the code of a mistake: what it means, an example, and how to put it right."""
    from specbind.spec.codes import codes, page, title
    from specbind.spec.diagnostics import near

    known = codes()
    if code is None:
        for each in known:
            click.echo(f"{each}  {title(each)}")
    elif code.upper() in known:
        click.echo(page(code.upper()), nl=False)
    else:
        suggestion = near(code, known)
        hint = f" Did you mean '{suggestion}'?" if suggestion else ""
        raise click.UsageError(f"there is no code '{code}'.{hint} `specbind explain` lists all.")
