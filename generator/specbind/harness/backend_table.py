"""What is known of every backend, as a table: run now, or read from a result file under docs/backends."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specbind.harness.backends import Outcome
from specbind.native.paths import checkout

FOLDER = Path("docs", "backends")
TABLE = FOLDER / "README.md"
NOTHING = "-"


@dataclass(frozen=True)
class Column:
    """A backend in the table. `cells` are the verdicts of strategies, then of checks; `foot` says whence, or why there are none."""

    name: str
    cells: dict[str, str]
    foot: str


def column(outcome: Outcome) -> Column:
    """What ran; else the committed result; else the reason."""
    name = outcome.backend.name
    if outcome.report:
        return of_report(outcome.report)
    if (recorded := read_record(name)) is not None and not outcome.failures:
        column = of_report(recorded)
        return Column(name, column.cells, f"recorded {column.foot}; not run here: {outcome.reason}")
    return Column(name, {}, f"not run: {outcome.reason}")


def of_report(report: dict[str, Any]) -> Column:
    verdicts = {name: row["verdict"] for name, row in (report["strategies"] | report["checks"]).items()}
    foot = f"{report['date']} on {report['device']}, driver {report['driver']}, llama.cpp {report['llama_commit']}"
    return Column(report["backend"], verdicts, foot)


def rows(columns: list[Column]) -> list[list[str]]:
    """A line for each strategy and each check, a cell for each backend."""
    names = list(dict.fromkeys(name for column in columns for name in column.cells))
    return [[name, *(column.cells.get(name, NOTHING) for column in columns)] for name in names]


def markdown(columns: list[Column]) -> str:
    """docs/backends/README.md."""
    lines = [
        "# Results of backends",
        "",
        "Written by `specbind test --backend NAME --record` from the result files beside it; not edited by hand.",
        "[The guide](../backends.md) says what the words mean.",
        "",
        "| strategy or check | " + " | ".join(c.name for c in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    lines += ["| " + " | ".join(row) + " |" for row in rows(columns)]
    lines += ["", *(f"- **{c.name}**: {c.foot}" for c in columns), ""]
    return "\n".join(lines)


def record_file(name: str) -> Path:
    return checkout() / FOLDER / f"{name}.json"


def read_record(name: str) -> dict[str, Any] | None:
    path = record_file(name)
    if not path.is_file():
        return None
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return report


def record(outcomes: list[Outcome], known: list[str]) -> list[Path]:
    """Write the result files of the backends that ran, and the table of all that were ever recorded."""
    written = []
    for outcome in outcomes:
        if outcome.report and not outcome.failures:
            path = record_file(outcome.backend.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(outcome.report, indent=1) + "\n", encoding="utf-8")
            written.append(path)
    reports = [report for name in known if (report := read_record(name)) is not None]
    table = checkout() / TABLE
    table.write_text(markdown([of_report(report) for report in reports]), encoding="utf-8")
    return [*written, table]
