"""docs/strategies.md names every strategy that the library has, and its numbers of the oracle models are the arithmetic's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from specbind.harness.strategies import ALL
from specbind.spec.load import load

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "strategies.md").read_text(encoding="utf-8")
SPEC = load(ROOT / "abi" / "llama_speculative.yaml")
FIELD = next(field for field in SPEC.struct("params").fields if field.name == "strategies")
NAMES = set(re.findall(r"\b(?:draft|ngram)-[a-z0-9-]+", FIELD.doc)) - {"draft-model"}

N_PREDICT = 800  # of `specbind bench decode --suite oracle`


def test_every_strategy_has_a_row_and_a_section() -> None:
    assert set(re.findall(r"^## `([a-z0-9-]+)`$", TEXT, re.M)) == NAMES
    overview = TEXT.split("## When speculation pays")[0]
    assert set(re.findall(r"^\| `([a-z0-9-]+)` \|", overview, re.M)) == NAMES


@pytest.mark.parametrize("word", ["Needs", "Costs", "Pays", "Obtain"])
def test_every_draft_strategy_says_what_a_user_asks(word: str) -> None:
    sections = re.split(r"^## `([a-z0-9-]+)`$", TEXT, flags=re.M)[1:]
    for name, section in zip(sections[::2], sections[1::2], strict=True):
        if name.startswith("draft-") and name != "draft-dspark":
            assert f"**{word}**" in section or (name == "draft-mtp" and word == "Needs" and "**Needs**" in section), name


def rows() -> list[tuple[str, int, int]]:
    table = TEXT.split("known by construction")[1].split("## `draft-simple`")[0]
    return [(name, int(accepted), int(drafted)) for name, accepted, drafted in re.findall(r"^\| (.+?) \| (\d+) / (\d+) \|", table, re.M)]


@pytest.mark.parametrize(("title", "accepted", "drafted"), rows())
def test_counts_are_those_of_the_arithmetic(title: str, accepted: int, drafted: int) -> None:
    case = ALL[title.replace("`", "")]
    # llama.cpp's example finishes the round that passes the limit, and the bench gives both loops the same number of tokens
    ends = [case.expected(n_predict=n) for n in range(N_PREDICT, N_PREDICT + 10)]
    assert (accepted, drafted) in [(end.accepted, end.drafted) for end in ends]


def test_fields_are_those_of_the_params() -> None:
    known = {field.name for struct in SPEC.structs for field in struct.fields} | {f.name for f in SPEC.functions}
    named = set(re.findall(r"`([a-z]+(?:_[a-z0-9]+)+)(?:\(.*?\))?`", TEXT))
    assert named - known <= {"convert_hf_to_gguf", "n_rs_seq", "load_mtp", "model_draft"}
