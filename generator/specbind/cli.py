"""Entry point of `specbind`: a table of commands, each loaded when it is called so that start-up stays quick."""

from __future__ import annotations

import importlib
from typing import Any

import click

Table = dict[str, tuple[str, str]]

# command name -> (module below specbind.commands, line for --help)
COMMANDS: Table = {
    "lint": ("lint", "Check the spec and show every mistake in it."),
    "explain": ("explain", "Explain the code of a mistake, or a rule of `diff`."),
    "layout": ("layout", "Show size and offsets of every struct on every platform."),
    "import": ("import_header", "Write down the ABI of a C header, to compare and to lay out."),
    "generate": ("generate", "Write the header, the entry points and the bindings, or check them."),
    "diff": ("diff", "Say what changed between two ABIs, and what it breaks."),
    "baseline": ("baseline", "Write down a released ABI, if its version is high enough."),
    "build": ("build", "Get and build llama.cpp and the shim."),
    "check": ("check", "Say whether header, library and every language agree with the spec."),
    "test": ("test", "Run the tests, or show every case in every language, or every strategy on every backend."),
    "propose": ("propose", "Write the ABI as a series of patches for llama.cpp itself."),
    "demo": ("demo", "Generate with a real model, with and without speculation."),
    "bench": ("bench", "Measure speed: decoding, generating, languages."),
    "doctor": ("doctor", "Say which toolchains and backends this machine has, and how to install the others."),
}


class LazyGroup(click.Group):
    """A group over a table of commands: lists them without importing them."""

    def __init__(self, *args: Any, table: Table, **options: Any) -> None:
        super().__init__(*args, **options)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.table:
            return None
        return importlib.import_module(f"specbind.commands.{self.table[name][0]}").command  # type: ignore[no-any-return]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.table.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.table:
            import difflib

            near = difflib.get_close_matches(args[0], self.table, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else f" Commands: {', '.join(self.table)}."
            ctx.fail(f"No such command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command. One that needs the spec ends with the mistakes in it and exit code 2."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            from specbind.spec.diagnostics import SpecError, render

            if not isinstance(error, SpecError):
                raise
            click.echo(render(error.diagnostics, color=True), err=True)
            raise SystemExit(2) from None


@click.group(cls=LazyGroup, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="specbind")
def main() -> None:
    """A stable C ABI for llama.cpp's speculative decoding, and its bindings, from one YAML file."""
