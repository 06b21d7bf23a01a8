"""The numbers in the cases are those of the oracle's arithmetic, and mistakes in a case file are found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from specbind.harness.cases import CASES, Case, CaseError, differences, load_case, load_cases, parse_observations, runner_input
from specbind.harness.oracle.cycle import EOS, MISSES, MISSES_SECOND_HEAD, NEXT, NEXT_EOS, Target, by_attention, with_misses
from specbind.harness.oracle.expect import Drafter, ModelDrafter, generation
from specbind.harness.oracle.ngram import NgramMap, NgramSimple

MISSING = with_misses(NEXT, MISSES)
SECOND = with_misses(NEXT, MISSES_SECOND_HEAD)

# by strategy and draft model: the drafter for a draft limit
DRAFTERS: dict[tuple[str, str | None], Callable[[int], Drafter]] = {
    ("draft-simple", "draft-llama"): lambda n: ModelDrafter((MISSING,), n),
    ("draft-simple", "draft-llama-perfect"): lambda n: ModelDrafter((NEXT,), n),
    ("draft-simple", "draft-llama-eos"): lambda n: ModelDrafter((NEXT_EOS,), n),
    ("draft-eagle3", "draft-eagle3"): lambda n: ModelDrafter((MISSING,), n),
    ("auto", "draft-eagle3"): lambda n: ModelDrafter((MISSING,), n),
    ("draft-dflash", "draft-dflash"): lambda n: ModelDrafter((MISSING,), n),
    ("draft-dspark", "draft-dspark"): lambda n: ModelDrafter((MISSING,), n),
    ("ngram-simple", None): lambda n: NgramSimple(3, 8),
    ("ngram-map-k", None): lambda n: NgramMap(3, 8),
    ("ngram-map-k4v", None): lambda n: NgramMap(3, 8, True),
}
HEADS = {"mtp-mimo2-1": (MISSING,), "mtp-mimo2-3": (MISSING, SECOND, NEXT), "target-gemma4": (MISSING,)}


def drafters(case: Case) -> list[Drafter]:
    strategy = case.params["strategies"]
    limit = case.params.get("n_draft_max", 3)
    if strategy == "none":
        return []
    if strategy == "draft-mtp":
        return [ModelDrafter(HEADS[case.target], limit)]
    return [DRAFTERS[strategy, case.draft](limit)]


@pytest.mark.parametrize("case", [c for c in load_cases(CASES) if c.drafted is not None], ids=lambda c: c.name)
def test_tokens_and_counts_of_a_case_are_those_of_the_arithmetic(case: Case) -> None:
    table = NEXT_EOS if "eos" in case.target else NEXT
    target = Target(table, by_attention)
    expected = generation(
        target.next_token, drafters(case), case.prompt, case.n_predict, n_ctx=case.context["n_ctx"], end_tokens=frozenset({EOS})
    )
    assert (case.tokens, case.drafted, case.accepted) == (expected.tokens, expected.drafted, expected.accepted)


def test_every_strategy_that_drafts_has_a_case_in_which_it_does() -> None:
    drafting = {c.params["strategies"] for c in load_cases(CASES) if c.drafted}
    assert {s for s, _ in DRAFTERS} | {"draft-mtp"} <= drafting


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("target: x\nexpects: {}\n", "unknown key 'expects'"),
        ("target: x\nexpect: {token: next}\n", "unknown key 'token'"),
        ("target: x\nlayers: [loops]\n", "layers are session, loop, primitives"),
    ],
)
def test_a_mistake_in_a_case_file_names_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(CaseError, match=message) as caught:
        load_case(path)
    assert str(path) in str(caught.value)


def test_a_runner_gets_each_case_once_per_layer() -> None:
    cases = load_cases(CASES)
    text = runner_input(cases, {"target-llama": Path("models", "t.gguf")})
    assert text.count("\nend\n") == sum(len(c.layers) for c in cases)
    assert f"target {Path('models', 't.gguf')}\n" in text
    assert "target no-such-model.gguf\n" in text


def case_of(tmp_path: Path, expect: str) -> Case:
    path = tmp_path / "case.yaml"
    path.write_text(f"target: t\nsequences: 2\nn_predict: 2\nexpect: {expect}\n")
    return load_case(path)


def test_each_kind_of_difference_is_told(tmp_path: Path) -> None:
    case = case_of(tmp_path, "{drafted: 1, accepted: 0, finish: LIMIT}")
    assert case.tokens is not None
    line = " ".join(map(str, case.tokens))
    right = f"case case loop\ntokens 0 {line}\ntokens 1 {line}\n" + "".join(
        f"{key} {seq} {value}\n" for seq in (0, 1) for key, value in (("drafted", 1), ("accepted", 0), ("finish", "LIMIT"))
    )
    assert differences(case, parse_observations(right + "end\n")[0]) == []
    for old, new in (("tokens 1 ", "tokens 1 9 "), ("drafted 1 1", "drafted 1 2"), ("accepted 0 0", "accepted 0 1"), ("LIMIT", "EOG")):
        found = differences(case, parse_observations(right.replace(old, new, 1))[0])
        assert len(found) == 1 and found[0].startswith(old.split()[0].replace("LIMIT", "finish"))


def test_an_error_that_does_not_come_and_one_that_should_not_are_told(tmp_path: Path) -> None:
    wanted = case_of(tmp_path, "{error: ERROR_MODEL, message: missing}")
    assert differences(wanted, parse_observations("case case loop\nerror ERROR_MODEL it is missing\nend\n")[0]) == []
    assert differences(wanted, parse_observations("case case loop\nerror ERROR_MODEL it is there\nend\n")[0])
    assert differences(wanted, parse_observations("case case loop\ntokens 0 1\nend\n")[0])
    assert differences(case_of(tmp_path, "{drafted: 1}"), parse_observations("case case loop\nerror ERROR_BUSY no\nend\n")[0])
