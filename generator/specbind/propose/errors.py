"""The one exception of this package: everything about a tree or a shim that makes a series impossible."""

from __future__ import annotations


class ProposeError(Exception):
    """The text names the file and the line or name that is missing, and says what would be right."""
