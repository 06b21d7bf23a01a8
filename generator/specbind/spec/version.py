"""Versions as numbers, and the part of them that old binaries count on."""

from __future__ import annotations


def number(version: str) -> tuple[int, int, int]:
    """A version as numbers, to compare."""
    major, minor, patch = map(int, version.split("."))
    return major, minor, patch


def series(version: str) -> str:
    """What stays the same while old binaries go on, and so the end of the SONAME: `1` of 1.4.2, `0.3` of 0.3.1."""
    major, minor, _ = number(version)
    return str(major) if major else f"0.{minor}"
