"""The proposal's text says what the spec and the series say."""

from __future__ import annotations

import re

import pytest

from specbind.propose import series, text
from specbind.propose.patches import Patch
from specbind.spec import model as m


@pytest.fixture(scope="module")
def proposal(spec: m.Spec, plan: series.Plan, patches: list[Patch]) -> str:
    return text.proposal(spec, plan.public, patches, "0123456789")


def test_it_has_every_chapter(proposal: str) -> None:
    chapters = re.findall(r"^## (.*)$", proposal, re.M)
    assert chapters == ["Motivation", "The patches", "The API", "Call order", "Rules of the ABI", "Ownership", "Errors", "Evidence",
                        "What is left out, and why", "How bindings use it", "Questions for maintainers"]  # fmt: skip


def test_every_function_and_every_status_is_in_a_table(proposal: str, spec: m.Spec) -> None:
    api = proposal[proposal.index("## The API") : proposal.index("## Call order")]
    assert [f.name for f in spec.functions if f"`{f.name}`" not in api] == []
    errors = proposal[proposal.index("## Errors") : proposal.index("## Evidence")]
    assert [v.name for v in spec.status.values if f"| `{v.name}` | {v.value} |" not in errors] == []


def test_every_owned_object_and_what_releases_it_is_in_the_ownership_table(proposal: str, spec: m.Spec) -> None:
    ownership = proposal[proposal.index("## Ownership") : proposal.index("## Errors")]
    assert [h.release for h in spec.handles if f"`{h.release}`" not in ownership] == []


def test_every_patch_is_in_the_table_with_the_lines_it_adds(proposal: str, patches: list[Patch]) -> None:
    for number, (patch, mail) in enumerate(zip(patches, series.texts(patches).values(), strict=True), 1):
        diff = mail[mail.index("\ndiff --git") :]
        added = len(re.findall(r"^\+(?!\+\+ )", diff, re.M))
        assert f"| {number} | {patch.subject} | {len(patch.files)}, " in proposal
        assert re.search(rf"^\| {number} \|.*\| \+{added} -", proposal, re.M), (number, added)


def test_it_has_no_dead_links(proposal: str) -> None:
    assert re.findall(r"\]\(#", proposal) == []


def test_the_evidence_is_there(proposal: str) -> None:
    evidence = proposal[proposal.index("## Evidence") : proposal.index("## What is left out")]
    assert len(re.findall(r"\d+ passed", evidence)) >= 2
    assert "nm -D" in evidence
