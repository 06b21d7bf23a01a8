"""Entry point of `specbind`: a table of commands, each loaded when it is called so that start-up stays quick."""

from __future__ import annotations

import importlib

import click

# command name -> (module below specbind.commands, line for --help)
COMMANDS: dict[str, tuple[str, str]] = {
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


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="specbind")
def main() -> None:
    """A stable C ABI for llama.cpp's speculative decoding, and its bindings, from one YAML file."""
