"""Loops on contexts of the caller's own, for target kinds that a session does not make."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from specbind.harness import own_loop as harness


@pytest.fixture
def own_loop(binding: Any, models: dict[str, Path], llama: Any) -> Callable[..., AbstractContextManager[harness.Own]]:
    """`own_loop(case, **context options)`."""
    return partial(harness.own_loop, binding, llama, models)
