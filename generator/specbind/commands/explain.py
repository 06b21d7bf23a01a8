"""`specbind explain`: the page behind a diagnostic's code or a rule of `specbind diff`."""

from __future__ import annotations

import click

EPILOG = """\b
Examples:
  specbind explain SB012
  specbind explain field-inserted
  specbind explain          all codes and rules

\b
Exit codes:
  0  shown
  2  wrong arguments, or no such code or rule
"""


@click.command(epilog=EPILOG)
@click.argument("code", required=False)
def command(code: str | None) -> None:
    """Explain CODE: what a mistake means and how to put it right, or what a change breaks and what to do instead."""
    from specbind.diff import rules
    from specbind.spec import codes
    from specbind.spec.diagnostics import near

    known = codes.codes()
    if code is None:
        for each in known:
            click.echo(f"{each}  {codes.title(each)}")
        for rule in rules.rules().values():
            click.echo(f"{rule.id}  {rule.title} ({rule.verdict.label})")
    elif code.upper() in known:
        click.echo(codes.page(code.upper()), nl=False)
    elif code.lower() in rules.grades():
        click.echo(rules.page(rules.rules()[code.lower()]), nl=False)
    else:
        suggestion = near(code, [*known, *rules.grades()])
        hint = f" Did you mean '{suggestion}'?" if suggestion else ""
        raise click.UsageError(f"there is no code '{code}'.{hint} `specbind explain` lists all.")
