"""SARIF 2.1.0, for code scanning: one result for each change, one rule for each kind of change that occurs."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from specbind.diff.finding import Comparison, Finding, Verdict
from specbind.diff.rules import Rule, page, rules
from specbind.spec.locate import root
from specbind.spec.model import Span

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Verdict.NONE: "note", Verdict.ADDITIVE: "note", Verdict.SOURCE: "error", Verdict.BINARY: "error", Verdict.MEANING: "error"}


def render(comparison: Comparison) -> str:
    """A log with one run. URIs are relative to the root of the checkout."""
    used = list(dict.fromkeys(finding.rule for finding in comparison.findings))
    run = {
        "tool": {
            "driver": {
                "name": "specbind diff",
                "version": version("specbind"),
                "semanticVersion": version("specbind"),
                "rules": [descriptor(rules()[name]) for name in used],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The root of the checkout."}}},
        "invocations": [
            {
                "executionSuccessful": not comparison.errors,
                "toolConfigurationNotifications": [
                    {"level": "error", "message": {"text": error}} for error in comparison.errors
                ],
            }
        ],
        "properties": {"verdict": comparison.verdict.label, "old": comparison.old.label, "new": comparison.new.label},
        "results": [
            result(finding, used.index(finding.rule), key)
            for finding, key in zip(comparison.findings, fingerprints(comparison.findings), strict=True)
        ],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def descriptor(rule: Rule) -> dict[str, Any]:
    whole = page(rule)
    return {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.id.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": whole, "markdown": whole},
        "defaultConfiguration": {"level": LEVELS[rule.verdict]},
        "properties": {"verdict": rule.verdict.label, "bump": rule.bump, "tags": ["abi", rule.verdict.label]},
    }


def result(finding: Finding, index: int, fingerprint: str) -> dict[str, Any]:
    where = f" Only on {', '.join(finding.targets)}." if finding.targets else ""
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": finding.item}]}
    if finding.span.file:
        location["physicalLocation"] = physical(finding.span)
    found: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": LEVELS[finding.verdict],
        "message": {"text": f"{finding.item}: {finding.message}.{where}"},
        "locations": [location],
        "partialFingerprints": {"ruleAndItem/v1": fingerprint},
        "properties": {"verdict": finding.verdict.label, "old": finding.old, "new": finding.new, "targets": list(finding.targets)},
    }
    if waiver := finding.waiver:
        text = f"{waiver.reason} ({waiver.owner}, until {waiver.expires})"
        found["suppressions"] = [{"kind": "external", "status": "accepted", "justification": text}]
    return found


def physical(span: Span) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": uri(span.file), "uriBaseId": "SRCROOT"}}
    if span.line:
        location["region"] = {"startLine": span.line, "startColumn": max(1, span.column)}
    return location


def uri(file: str) -> str:
    """A path relative to the root of the checkout, also of a file that a commit has (`git:REF:PATH`)."""
    path = Path.cwd() / re.sub(r"^git:[^:]*:", "", file)
    return quote(Path(os.path.relpath(path, root())).as_posix())


def fingerprints(findings: tuple[Finding, ...]) -> list[str]:
    """The same for the same change wherever it stands: from rule and item, and a number where these two come again."""
    seen: Counter[tuple[str, str]] = Counter()
    keys = []
    for finding in findings:
        key = finding.rule, finding.item
        keys.append(hashlib.sha256("\0".join((*key, str(seen[key]))).encode()).hexdigest())
        seen[key] += 1
    return keys
