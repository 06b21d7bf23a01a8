"""Which version a set of changes demands.

From 1.0 on it is semantic versioning. Below 1.0 the middle number stands in for the first, as the SONAME does: a break
raises it, anything else raises the last.
"""

from __future__ import annotations

from collections.abc import Iterable

from specbind.diff.finding import Finding
from specbind.diff.rules import BUMPS, grades
from specbind.spec.version import number


def bump(findings: Iterable[Finding]) -> str | None:
    """The largest step that findings without a waiver demand: major, minor, patch, or None if there are none."""
    steps = [grades()[finding.rule][1] for finding in findings if finding.waiver is None]
    return max(steps, key=BUMPS.index, default=None)


def required(released: str, findings: Iterable[Finding]) -> str:
    """The lowest version that may follow `released` with these changes; `released` itself if there are none."""
    major, minor, patch = number(released)
    step = bump(findings)
    if step is None:
        return released
    if step == "major":
        return f"{major + 1}.0.0" if major else f"0.{minor + 1}.0"
    return f"{major}.{minor + 1}.0" if step == "minor" and major else f"{major}.{minor}.{patch + 1}"
