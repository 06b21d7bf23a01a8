"""What a comparison says instead of a result when it cannot be made."""

from __future__ import annotations

import click


class DiffError(click.ClickException):
    """The text says what is wrong with a side or a baseline, and what would be right. A command that meets it exits with 2."""

    exit_code = 2
