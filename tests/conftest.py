"""The built library, the generated Python binding and the oracle models, made once for a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bindings_out" / "python" / "src"))


@pytest.fixture(scope="session")
def build() -> Any:
    """The library under test, built if it is not. SPECBIND_LIBRARY_DIR names the folder of another one."""
    from specbind import native
    from specbind.native.prebuilt import ENV_DIR, prebuilt

    given = os.environ.get(ENV_DIR)
    result = prebuilt(Path(given)) if given else native.build()
    os.environ.setdefault("LLAMA_SPECULATIVE_LIB", str(result.library))
    return result


@pytest.fixture(scope="session")
def binding(build: Any) -> Any:
    """The Python binding on the library under test."""
    import llama_speculative

    return llama_speculative


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Paths of the oracle models by name."""
    from specbind.harness.oracle.catalogue import write_all

    return write_all(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="session")
def llama(build: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """llama.h, for contexts and samplers of the caller's own."""
    from specbind.harness.llama import Llama

    return Llama(build.lib_dir, build.include_dirs, tmp_path_factory.mktemp("helper"))


@pytest.fixture(scope="session")
def missing() -> Callable[[str], NoReturn]:
    """`missing(tool)`: skips with the hint of ci/toolchains.yaml, or fails where CI must have the tool."""
    from specbind.harness.toolchains import load_toolchains

    tools = {tool.name: tool for tool in load_toolchains()}

    def missing(name: str) -> NoReturn:
        said = f"{name} is missing: {tools[name].install}"
        if tools[name].ci and os.environ.get("CI"):
            pytest.fail(said, pytrace=False)
        pytest.skip(said)

    return missing
