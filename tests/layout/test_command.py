"""`specbind layout`: the table and the JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from specbind.cli import main
from specbind.layout.targets import TARGETS

SAMPLE = Path(__file__).parents[1] / "spec" / "sample.yaml"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["layout", str(SAMPLE), *arguments])


def test_json_has_every_target_and_struct() -> None:
    result = run("--format", "json")
    assert result.exit_code == 0
    found = json.loads(result.output)
    assert found["file"] == str(SAMPLE)
    assert list(found["targets"]) == list(TARGETS)
    assert all(list(each) == ["settings", "order", "takings"] for each in found["targets"].values())
    # u32, u32, f64, i64, pointer, pointer
    assert found["targets"]["x86_64-linux"]["takings"] == {
        "size": 40,
        "align": 8,
        "fields": [
            {"name": "struct_size", "offset": 0, "size": 4, "align": 4},
            {"name": "n_sold", "offset": 4, "size": 4, "align": 4},
            {"name": "amount", "offset": 8, "size": 8, "align": 8},
            {"name": "since_us", "offset": 16, "size": 8, "align": 8},
            {"name": "best", "offset": 24, "size": 8, "align": 8},
            {"name": "printer", "offset": 32, "size": 8, "align": 8},
        ],
    }
    assert found["targets"]["i686-linux"]["takings"]["size"] == 32
    assert found["targets"]["i686-linux"]["takings"]["align"] == 4
    assert found["targets"]["i686-windows"]["takings"]["align"] == 8


def test_targets_and_structs_can_be_chosen() -> None:
    found = json.loads(run("--format", "json", "--target", "wasm32", "--struct", "order").output)
    assert {target: list(each) for target, each in found["targets"].items()} == {"wasm32": ["order"]}


def test_the_table_has_one_column_for_targets_that_agree() -> None:
    result = run("--struct", "takings")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0].startswith("1  x86_64-linux, aarch64-linux")
    assert "2  i686-linux" in lines
    assert "3  i686-windows, armv7-linux, wasm32" in lines
    row = next(line for line in lines if "printer" in line)
    assert [cell.strip() for cell in row.strip("│").split("│")] == ["printer", "32", "8", "28", "4", "28", "4"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--target", "i686-linus"), "Did you mean 'i686-linux'?"),
        (("--struct", "order1"), "--struct order1: unknown. Did you mean 'order'?"),
    ],
)
def test_a_name_that_is_not_there_ends_with_2(arguments: tuple[str, ...], text: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert text in result.output
