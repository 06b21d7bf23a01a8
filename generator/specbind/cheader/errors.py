"""What an import says instead of a result."""

from __future__ import annotations

import click


class HeaderError(click.ClickException):
    """The text says what is wrong with a header, or what is missing to read it. A command that meets it exits with 2."""

    exit_code = 2
