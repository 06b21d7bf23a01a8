"""The series against the pinned llama.cpp, made once for a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from specbind.propose import series
from specbind.propose.patches import Patch
from specbind.propose.shim import Shim
from specbind.spec import model as m

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def tree() -> Path:
    """The pinned source tree."""
    from specbind.native.paths import cache_dir
    from specbind.native.pin import load_pin
    from specbind.native.progress import Silent
    from specbind.native.source import pinned_tree

    return pinned_tree(load_pin(ROOT / "abi" / "llama_cpp.yaml"), cache_dir(), Silent()).path


@pytest.fixture(scope="session")
def spec() -> m.Spec:
    from specbind.spec.load import load

    return load(ROOT / "abi" / "llama_speculative.yaml")


@pytest.fixture(scope="session")
def shim(spec: m.Spec) -> Shim:
    return series.shim_of(spec, ROOT / "native")


@pytest.fixture(scope="session")
def plan(spec: m.Spec, shim: Shim) -> series.Plan:
    return series.planned(spec, shim)


@pytest.fixture(scope="session")
def patches(plan: series.Plan, tree: Path) -> list[Patch]:
    return series.patches(plan, series.tree_reader(tree))


@pytest.fixture(scope="session")
def final(patches: list[Patch]) -> dict[str, str]:
    """Text of every file that the series touches, after its last step."""
    return {path: new for patch in patches for path, (_, new) in patch.files.items()}
