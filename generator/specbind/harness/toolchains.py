"""The toolchains that building and testing can use, as data: ci/toolchains.yaml."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tool:
    """A row of ci/toolchains.yaml."""

    name: str
    commands: tuple[str, ...]  # any of them will do
    version: tuple[str, ...]  # arguments that make it say its version
    used_for: str
    install: str
    required: bool  # nothing is built without it
    ci: bool = False  # CI can have it anywhere, so that its tests must run there


def load_toolchains() -> list[Tool]:
    """Every row, in the file's order."""
    import yaml

    from specbind.native.paths import checkout

    rows = yaml.safe_load((checkout() / "ci" / "toolchains.yaml").read_text(encoding="utf-8"))["tools"]
    return [Tool(**{**row, "commands": tuple(row["commands"]), "version": tuple(row["version"])}) for row in rows]
