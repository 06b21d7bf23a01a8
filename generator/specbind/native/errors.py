"""The one exception of this package: every failure that a user can cause or mend."""

from __future__ import annotations


class NativeError(Exception):
    """Something about the sources, the tools or the build is wrong; the text names it and says what would be right."""
