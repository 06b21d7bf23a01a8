"""The schema that editors use and the checker that `lint` uses are the same thing."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from specbind.spec.build import plain
from specbind.spec.source import Leaf, Map, Seq, make_source, read
from specbind.spec.structure import KEYWORDS, SCHEMA, check_structure, load_schema

HERE = Path(__file__).parent
ABI = HERE.parents[1] / "abi" / "llama_speculative.yaml"
# All but those that are about YAML itself.
FILES = [ABI, HERE / "sample.yaml", *(path for path in sorted((HERE / "fixtures").glob("*.yaml")) if path.stem >= "SB010")]


@pytest.fixture(scope="module")
def validator() -> Any:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is missing: pip install jsonschema")
    jsonschema.Draft7Validator.check_schema(load_schema())
    return jsonschema.Draft7Validator(load_schema())


def tree(value: Any) -> Any:
    """A plain value as a tree without places."""
    if isinstance(value, dict):
        return Map({key: (Leaf(key, 0, 0), tree(child)) for key, child in value.items()}, 0)
    return Seq([tree(child) for child in value], 0) if isinstance(value, list) else Leaf(value, 0, 0)


def accepted(value: Any) -> bool:
    return not check_structure(make_source("f", "{"), tree(value)).found


def test_the_schema_uses_only_keywords_that_the_checker_knows() -> None:
    def visit(schema: dict[str, Any]) -> None:
        assert set(schema) - {"$schema", "definitions"} <= KEYWORDS
        for child in [*schema.get("properties", {}).values(), *schema.get("definitions", {}).values()]:
            visit(child)
        if "items" in schema:
            visit(schema["items"])

    visit(load_schema())


def test_everything_in_the_schema_is_explained_to_the_reader_of_an_editor() -> None:
    schema = load_schema()
    for name, definition in schema["definitions"].items():
        for key, value in definition.get("properties", {}).items():
            target = schema["definitions"].get(value.get("$ref", "").rpartition("/")[2], {})
            assert value.get("description") or target.get("description"), f"{name}.{key}"


def test_the_spec_names_the_schema_for_editors() -> None:
    first = ABI.read_text(encoding="utf-8").splitlines()[0]
    marker = "# yaml-language-server: $schema="
    assert first.startswith(marker)
    assert (ABI.parent / first.removeprefix(marker)).resolve() == SCHEMA.resolve()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_checker_and_jsonschema_agree_on_every_file(path: Path, validator: Any) -> None:
    source = make_source(path.name, path.read_text(encoding="utf-8"))
    root, _ = read(source)
    assert root is not None
    assert bool(check_structure(source, root).found) == (not validator.is_valid(plain(root)))


def test_checker_and_jsonschema_agree_on_mutations(validator: Any) -> None:
    root, _ = read(make_source("sample", (HERE / "sample.yaml").read_text(encoding="utf-8")))
    assert root is not None
    sample, dice = plain(root), random.Random(7)
    verdicts = []
    for _ in range(250):
        value = mutated(copy.deepcopy(sample), dice)
        verdicts.append(accepted(value))
        assert verdicts[-1] == validator.is_valid(value), json.dumps(value)
    assert 25 < sum(verdicts) < 225, "both verdicts must be common, or nothing was compared"


def mutated(value: Any, dice: random.Random) -> Any:
    """The value with one thing deleted, added, or made something else, anywhere in it."""
    places: list[tuple[Any, Any]] = []

    def collect(node: Any) -> None:
        for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
            places.append((node, key))
            collect(node[key])

    collect(value)
    container, key = dice.choice(places)
    others = [None, True, 1, -1, 2.5, "", "x", "OFF", "0.2.0", [], ["A"], {}, {"name": "x"}]
    match dice.randrange(3):
        case 0:
            del container[key]
        case 1:
            container[key] = copy.deepcopy(dice.choice(others))
        case 2 if isinstance(container, dict):
            container[dice.choice(["doc", "min", "since", "colour", "nullable", "threads"])] = dice.choice(others)
        case _:
            container[key] = copy.deepcopy(dice.choice(places)[0])
    return value
