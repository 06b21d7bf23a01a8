"""One folder for all backends, so that each is compared with the logits of the portable processor."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from specbind.harness.backends import Outcome, run_backend
from specbind.native.progress import Silent


@pytest.fixture(scope="session")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Outcome]:
    """What became of a backend; each runs once."""
    out: Path = tmp_path_factory.mktemp("backends")

    @cache
    def of(name: str) -> Outcome:
        if name != "cpu":
            of("cpu")
        return run_backend(name, out, Silent())

    return of
