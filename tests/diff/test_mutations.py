"""Random specs, changed in one way: exactly the findings of that change come, and a baseline knows as much as its spec."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutations import MUTATIONS, rule_of
from random_specs import SAMPLE, valid_specs

from specbind.diff.baseline import dump
from specbind.diff.compare import compare
from specbind.diff.rules import grades
from specbind.diff.sides import from_yaml
from specbind.spec.source import make_source

KNOWN: dict[str, Any] = yaml.safe_load(SAMPLE)  # has a place for every change
quick = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


def model(spec: dict[str, Any]) -> Any:
    made = from_yaml(make_source("random.yaml", json.dumps(spec, ensure_ascii=False)), "random.yaml").spec
    assert made is not None
    return made


def check(name: str, old: dict[str, Any], random: Random) -> bool:
    """Change a spec and compare; False if it has no place for the change."""
    new = copy.deepcopy(old)
    expected = MUTATIONS[name](new, random)
    if expected is not None:
        assert {(finding.rule, finding.item) for finding in compare(model(old), model(new))} == expected, name
    return expected is not None


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_change_of_a_known_spec_is_found_and_nothing_else(name: str) -> None:
    assert rule_of(name) in grades()
    for seed in range(10):
        assert check(name, KNOWN, Random(seed)), "the sample has no place for this change"


@quick
@given(valid_specs(), st.randoms(use_true_random=False))
def test_a_change_of_a_random_spec_is_found_and_nothing_else(spec: dict[str, Any], random: Random) -> None:
    found = [name for name in MUTATIONS if check(name, spec, random)]
    assert "function_added" in found


@quick
@given(valid_specs())
def test_a_spec_does_not_differ_from_itself_nor_from_its_baseline(spec: dict[str, Any]) -> None:
    made = model(spec)
    assert compare(made, made) == ()
    side = from_yaml(make_source("1.0.0.yaml", dump(made)), "1.0.0.yaml")
    assert side.spec is not None
    assert compare(made, side.spec, documented=False) == compare(side.spec, made, documented=False) == ()
    assert dump(side.spec) == dump(made)


@quick
@given(valid_specs(), st.randoms(use_true_random=False))
def test_the_order_of_items_changes_neither_the_findings_nor_the_baseline(spec: dict[str, Any], random: Random) -> None:
    shuffled = copy.deepcopy(spec)
    for section in ("constants", "enums", "structs", "functions"):
        random.shuffle(shuffled.get(section, []))
    assert compare(model(spec), model(shuffled)) == ()
    assert dump(replace(model(spec), source="")) == dump(model(shuffled))
