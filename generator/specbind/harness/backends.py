"""Every backend that this machine has, one process each: what `specbind test --backend` and the tests run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specbind.native import backends
from specbind.native.backends import Backend
from specbind.native.build import build
from specbind.native.errors import NativeError
from specbind.native.paths import checkout
from specbind.native.progress import Progress
from specbind.native.tools import find_tools

PATIENCE = 1800  # seconds for one backend


@dataclass(frozen=True)
class Outcome:
    """What became of a backend: a report, or the reason why there is none."""

    backend: Backend
    reason: str = ""  # missing or broken
    report: dict[str, Any] = field(default_factory=dict)  # all that the process wrote

    @property
    def strategies(self) -> dict[str, dict[str, Any]]:
        return dict(self.report.get("strategies", {}))

    @property
    def checks(self) -> dict[str, dict[str, str]]:
        return dict(self.report.get("checks", {}))

    @property
    def failures(self) -> list[str]:
        """What is wrong, a line each. A backend that CI does not require may be missing."""
        if not self.report:
            return [f"{self.backend.name}: {self.reason}"] if self.backend.required or not self.backend.missing() else []
        wrong = [f"{self.backend.name}, {name}: {row['reason']}" for name, row in self.strategies.items() if row["verdict"] == "wrong"]
        return wrong + [f"{self.backend.name}, {name}: {row['what']}" for name, row in self.checks.items() if row["verdict"] != "ok"]


def all_backends() -> dict[str, Backend]:
    return backends.all_backends(checkout())


def names(given: str) -> list[str]:
    """`all`, or names separated by commas. The portable processor comes first, since the others are compared with it. Raises NativeError."""
    known = all_backends()
    chosen = list(known) if given == "all" else given.split(",")
    for name in chosen:
        if name not in known:
            raise backends.no_such_backend(name, [*known, "all"])
    return ["cpu", *(name for name in chosen if name != "cpu")]


def run_backend(name: str, out: Path, progress: Progress) -> Outcome:
    """Build it, and run its process. Nothing is raised for a backend that is missing or broken: the outcome says so."""
    backend = all_backends()[name]
    if missing := backend.missing():
        return Outcome(backend, f"{', '.join(missing)} is missing: {backend.remedy}")
    try:
        build(backend=name, latest=False, progress=progress)
    except NativeError as error:
        return Outcome(backend, str(error))
    out.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, **backend.environment, "GGML_NO_BACKTRACE": "1"}
    if name == "blas":
        environment["LD_PRELOAD"] = str(sgemm_counter(out))
    command = [sys.executable, "-m", "specbind.harness.backend_run", name, str(out)]
    with progress.phase(f"Testing {backend.title}"):
        try:
            ran = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return Outcome(backend, f"it did not end within {PATIENCE} s")
    if ran.returncode:
        words = " ".join(ran.stderr.strip().splitlines()[-3:])
        return Outcome(backend, f"its process ended with {ran.returncode}: {words}")
    report = json.loads((out / f"{name}.json").read_text(encoding="utf-8"))
    return Outcome(backend, report=report)


def sgemm_counter(folder: Path) -> Path:
    """native/tests/count_sgemm.c, to be preloaded."""
    library = folder / "count_sgemm.so"
    source = checkout() / "native" / "tests" / "count_sgemm.c"
    command = [find_tools().cxx, "-x", "c", "-std=c11", "-O1", "-shared", "-fPIC", source, "-o", library, "-ldl"]
    subprocess.run(list(map(str, command)), check=True)
    return library
