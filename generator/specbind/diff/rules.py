"""The rules as `rules.yaml` states them.

A comparison needs no more than each rule's verdict, and has three tenths of a second; so `grades` takes that from the
text of the file, and `rules` reads all of it for reports. A test holds the two together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from specbind.diff.finding import Verdict

FILE = Path(__file__).with_name("rules.yaml")
SCHEMA = Path(__file__).with_name("rules.schema.json")
BUMPS = ("patch", "minor", "major")  # from least to most

BY_LABEL = {verdict.label: verdict for verdict in Verdict}
HEAD = re.compile(r"^- id: (\S+)\n  title: .+\n  verdict: (.+)\n  bump: (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of change. `languages` maps a language, or `all` for those not named, to how it is felt there."""

    id: str
    title: str
    verdict: Verdict
    bump: str  # patch | minor | major
    why: str
    languages: dict[str, str]
    instead: str


@cache
def grades() -> dict[str, tuple[Verdict, str]]:
    """Verdict and bump by the rule's id."""
    return {rule: (BY_LABEL[label], bump) for rule, label, bump in HEAD.findall(FILE.read_text(encoding="utf-8"))}


@cache
def rules() -> dict[str, Rule]:
    """All rules by id, in the order of the file."""
    import yaml

    read = yaml.load(FILE.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return {each["id"]: Rule(**{**each, "verdict": BY_LABEL[each["verdict"]]}) for each in read}


def page(rule: Rule) -> str:
    """What `specbind explain` says about a rule, Markdown."""
    felt = "\n".join(
        f"- {'every other language' if name == 'all' and len(rule.languages) > 1 else name}: {how}"
        for name, how in rule.languages.items()
    )
    return (
        f"# {rule.id}: {rule.title}\n\n"
        f"Verdict: **{rule.verdict.label}**. The version must rise by at least a {rule.bump} step.\n\n"
        f"{rule.why}\n\n## Who feels it\n\n{felt.replace('- all:', '- every language:')}\n\n## Instead\n\n{rule.instead}\n"
    )
