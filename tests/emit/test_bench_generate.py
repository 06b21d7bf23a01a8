"""The measurement of generation: its arithmetic, and that the larger specs are what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from specbind.emit.core import backends
from specbind.harness.bench_generate import SIZES, Command, Growth, commands, larger
from specbind.spec.load import check_source
from specbind.spec.source import make_source

ROOT = Path(__file__).resolve().parents[2]
YAML = (ROOT / "abi" / "llama_speculative.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("size", SIZES)
def test_a_larger_spec_has_as_many_times_the_items_and_no_mistake(size: int) -> None:
    spec, found = check_source(make_source("larger.yaml", larger(YAML, size)), backends().values())
    assert found == []
    assert spec is not None
    own, _ = check_source(make_source("own.yaml", YAML))
    assert own is not None
    for items in ("functions", "structs", "enums"):
        assert len(getattr(spec, items)) == size * len(getattr(own, items))


def test_growth_is_the_time_per_item() -> None:
    assert SIZES == (1, 2, 4)
    assert Growth("x", (1.0, 2.0, 4.0)).factor == 1
    assert Growth("x", (1.0, 2.0, 4.0)).is_linear
    assert Growth("x", (1.0, 4.0, 16.0)).factor == 4
    assert not Growth("x", (1.0, 4.0, 16.0)).is_linear


def test_only_commands_with_a_goal_can_miss_it() -> None:
    assert Command("lint", 0.39, 9.0).reaches_goal
    assert not Command("lint", 0.41, 0.1).reaches_goal
    assert Command("generate --lang c", 9.0, None).reaches_goal


def test_every_command_is_timed_known_and_fresh(tmp_path: Path) -> None:
    rows = {row.name: row for row in commands(ROOT, tmp_path, 1)}
    assert list(rows)[:3] == ["start-up", "lint", "generate --check"]
    assert {name.removeprefix("generate --lang ") for name in list(rows)[3:]} == set(backends())
    assert rows["start-up"].fresh is None
    assert all(row.known > 0 and (row.fresh or 1) > 0 for row in rows.values())
    assert rows["generate --check"].known < (rows["generate --check"].fresh or 0), "a known spec is not rendered again"
