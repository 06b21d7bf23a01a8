"""Entry point of `specbind`: a table of commands, each loaded when it is called so that start-up stays quick."""

from __future__ import annotations

import importlib
from typing import Any

import click

# command name -> (module below specbind.commands, line for --help)
COMMANDS: dict[str, tuple[str, str]] = {
    "lint": ("lint", "Check the spec and show every mistake in it."),
    "explain": ("explain", "Explain the code of a mistake."),
    "layout": ("layout", "Show size and offsets of every struct on every platform."),
    "generate": ("generate", "Write the header, the entry points and the bindings, or check them."),
    "build": ("build", "Get and build llama.cpp and the shim."),
    "demo": ("demo", "Generate with a real model, with and without speculation."),
    "doctor": ("doctor", "Say which toolchains this machine has, and how to install the others."),
}


class LazyGroup(click.Group):
    """Lists `COMMANDS` without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        return importlib.import_module(f"specbind.commands.{COMMANDS[name][0]}").command  # type: ignore[no-any-return]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS:
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else f" Commands: {', '.join(COMMANDS)}."
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


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="specbind")
def main() -> None:
    """A stable C ABI for llama.cpp's speculative decoding, and its bindings, from one YAML file."""
