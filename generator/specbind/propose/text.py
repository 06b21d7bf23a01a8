"""The README of the library in the tree, and the proposal: prose in templates, every table from the spec and the series."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from specbind.emit.core import environment
from specbind.emit.reference.values import Page
from specbind.native.paths import checkout
from specbind.propose.driver import Public
from specbind.propose.patches import Patch, counts
from specbind.spec import model as m

TEMPLATES = Path(__file__).parent / "templates"


def spec_values(spec: m.Spec) -> dict[str, Any]:
    """Tables of the spec as plain Markdown: links to sections of the reference become code."""
    plain: dict[str, Any] = without_links(Page(spec).values())
    return {**plain, "n_functions": len(spec.functions), "n_structs": len(spec.structs), "prefix": spec.prefix}


def without_links(value: Any) -> Any:
    if isinstance(value, str):
        return re.sub(r"\[(`[^`]*`)\]\(#[^)]*\)", r"\1", value)
    if isinstance(value, list):
        return [without_links(each) for each in value]
    if isinstance(value, dict):
        return {key: without_links(each) for key, each in value.items()}
    return value


def proposal(spec: m.Spec, public: Sequence[Public], patches: Sequence[Patch], commit: str) -> str:
    """The text that goes with the patches."""
    values = {
        **spec_values(spec),
        "commit": commit,
        "steps": [step(i, patch) for i, patch in enumerate(patches, 1)],
        "public": public,
        "cases": counted_cases(),
        "evidence": yaml.safe_load((Path(__file__).parent / "evidence.yaml").read_text(encoding="utf-8")),
    }
    text: str = environment(TEMPLATES).get_template("proposal.md.jinja").render(**values)
    return text


def counted_cases() -> list[dict[str, Any]]:
    """The cases of `tests/cases` that draft: what each language's suite expects of the library."""
    rows = []
    for path in sorted((checkout() / "tests" / "cases").glob("*.yaml")):
        case = yaml.safe_load(path.read_text(encoding="utf-8"))
        expected = case["expect"]
        if expected.get("drafted"):
            rows.append({"name": path.stem, "about": " ".join(case["about"].split()), **expected})
    return rows


def step(number: int, patch: Patch) -> dict[str, Any]:
    """A row of the table of patches."""
    added = [counts(old, new) for old, new in patch.files.values()]
    return {
        "number": number,
        "subject": patch.subject,
        "body": " ".join(patch.body.split()),
        "files": len(patch.files),
        "new": sum(old is None for old, _ in patch.files.values()),
        "added": sum(a for a, _ in added),
        "removed": sum(r for _, r in added),
    }


def readme(spec: m.Spec) -> str:
    text: str = environment(TEMPLATES / "tree").get_template("README.md.jinja").render(**spec_values(spec))
    return text
