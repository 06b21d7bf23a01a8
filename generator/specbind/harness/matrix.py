"""Languages and shared cases in one table, from what every language's tests write down while they run.

Which languages there are is read from the folders of tests, so that a new one appears by itself, and one whose tests did
not run is seen.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specbind.harness.cases import CASES, load_cases
from specbind.harness.toolchains import load_toolchains

CASE_TEST = "every_shared_case"
RUNTIMES = {"csharp": ("csharp-mono", "csharp-coreclr")}
# A language needs a row of ci/toolchains.yaml; Python is what runs this.
NEEDS = {
    "csharp-mono": "Mono", "csharp-coreclr": "CoreCLR", "go": "Go", "rust": "Rust", "swift": "Swift", "python": None,
}  # fmt: skip


@dataclass
class Matrix:
    """What each case gave: language -> case -> layer -> differences."""

    languages: list[str]
    cases: list[str]
    seen: dict[str, dict[str, dict[str, list[str]]]] = field(default_factory=dict)
    required: frozenset[str] = frozenset()

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        for row in rows:
            self.seen.setdefault(row["language"], {}).setdefault(row["case"], {})[row["layer"]] = row["wrong"]

    def cell(self, language: str, case: str) -> str:
        """`ok`, `FAILED` with the layers in which it did, or `-` where it did not run."""
        layers = self.seen.get(language, {}).get(case)
        if not layers:
            return "-"
        wrong = [layer for layer, texts in layers.items() if texts]
        return f"FAILED ({', '.join(wrong)})" if wrong else "ok"

    def failures(self) -> list[str]:
        """A line for each language that had to run and did not, and for each case that failed."""
        lines = [
            f"{language}: did not run" if language not in self.seen else f"{language}: {case} did not run"
            for language in self.languages
            for case in (self.cases if language in self.seen else self.cases[:1])
            if (language in self.required or language in self.seen) and case not in self.seen.get(language, {})
        ]
        return lines + [
            f"{language}: {case}, {layer}: {text}"
            for language, cases in self.seen.items()
            for case, layers in cases.items()
            for layer, texts in layers.items()
            for text in texts
        ]

    def as_json(self) -> dict[str, Any]:
        return {
            "languages": {name: {"required": name in self.required, "ran": name in self.seen} for name in self.languages},
            "cases": {case: {name: self.cell(name, case) for name in self.languages} for case in self.cases},
            "failures": self.failures(),
        }


def languages(root: Path) -> list[str]:
    """Every language whose tests run the shared cases, once per runtime."""
    folders = sorted(
        path.parent.name for path in (root / "tests" / "bindings").glob("*/test_*.py") if CASE_TEST in path.read_text(encoding="utf-8")
    )
    return [name for folder in folders for name in RUNTIMES.get(folder, (folder,))]


def required_languages(names: Sequence[str]) -> frozenset[str]:
    """Those that CI can have anywhere, and those that need nothing."""
    ci = {tool.name for tool in load_toolchains() if tool.ci or tool.required}
    return frozenset(name for name in names if NEEDS.get(name) is None or NEEDS[name] in ci)


def run_matrix(root: Path, env: Mapping[str, str], arguments: Sequence[str] = ()) -> Matrix:
    """Run every language's cases; pytest's own output goes to stderr."""
    names = languages(root)
    matrix = Matrix(names, [case.name for case in load_cases(CASES)], required=required_languages(names))
    with tempfile.TemporaryDirectory(prefix="specbind-") as temporary:
        file = Path(temporary) / "cases.jsonl"
        command = [sys.executable, "-m", "pytest", "-q", "tests/bindings", "-k", CASE_TEST, *arguments]
        subprocess.run(command, cwd=root, env={**env, "SPECBIND_CASES": str(file)}, stdout=sys.stderr, check=False)
        if file.is_file():
            matrix.add(json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    return matrix
