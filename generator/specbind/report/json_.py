"""For programs. Keys are stable: they are added to, not changed."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from specbind.diff.finding import Comparison, Finding
from specbind.diff.versions import bump
from specbind.spec.model import Span


def render(comparison: Comparison) -> str:
    """`verdict` first; `bump` is the version step that the changes demand, null if there are none."""
    result = {
        "verdict": comparison.verdict.label,
        "bump": bump(comparison.findings),
        "old": asdict(comparison.old),
        "new": asdict(comparison.new),
        "findings": [as_dict(finding) for finding in comparison.findings],
        "errors": list(comparison.errors),
    }
    return json.dumps(result, indent=2, ensure_ascii=False) + "\n"


def as_dict(finding: Finding) -> dict[str, Any]:
    waiver = finding.waiver
    return {
        "verdict": finding.verdict.label,
        "rule": finding.rule,
        "item": finding.item,
        "message": finding.message,
        "old": finding.old,
        "new": finding.new,
        "targets": list(finding.targets),
        "span": span(finding.span),
        "waiver": {
            "reason": waiver.reason,
            "owner": waiver.owner,
            "expires": waiver.expires,
            "span": span(waiver.span),
        }
        if waiver
        else None,
    }


def span(given: Span) -> dict[str, Any] | None:
    return asdict(given) if given.file else None
