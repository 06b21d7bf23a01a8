"""Everything public is documented, and the README's examples run as they stand."""

from __future__ import annotations

import dataclasses
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from specbind.harness.oracle.cycle import CYCLE, NEXT, VOCABULARY, run

PACKAGE = Path(__file__).resolve().parents[3] / "bindings_out" / "python"
PROMPT = run(NEXT, CYCLE[0], 24)


def test_every_public_name_has_a_docstring(binding: Any) -> None:
    missing = []
    for name in binding.__all__:
        thing = getattr(binding, name)
        if not inspect.isclass(thing) and not inspect.isfunction(thing):
            continue
        if not thing.__doc__ or (dataclasses.is_dataclass(thing) and thing.__doc__.startswith(f"{name}(")):
            missing.append(name)
        if inspect.isclass(thing):
            members = [(m, value) for m, value in vars(thing).items() if not m.startswith("_")]
            missing += [
                f"{name}.{member}"
                for member, value in members
                if (inspect.isroutine(value) or isinstance(value, property)) and not inspect.getdoc(value)
            ]
    assert not missing


def test_every_field_of_a_value_is_documented() -> None:
    """By the text under it, which documentation tools read."""
    for name in ("_results", "session"):
        lines = (PACKAGE / "src" / "llama_speculative" / f"{name}.py").read_text(encoding="utf-8").splitlines()
        inside = False
        for line, after in zip(lines, [*lines[1:], ""], strict=True):
            inside = line.startswith("@dataclass") or (inside and re.match(r"\S", line) is None) or (inside and line.startswith("class "))
            if inside and re.match(r"    [a-z]\w*: ", line):
                assert after.startswith('    """'), f"{name}: {line}"


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", blocks(), ids=lambda text: text.split("\n", 1)[0])
def test_the_examples_of_the_readme_compile(block: str) -> None:
    compile(block, "README.md", "exec")


def test_the_first_example_streams_the_models_text(build: Any, models: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "model.gguf").symlink_to(models["target-llama"])
    text = blocks()[0].replace('"Once upon a time"', repr(VOCABULARY.decode(PROMPT).decode()))
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True,
        env={"PYTHONPATH": str(PACKAGE / "src"), "LLAMA_SPECULATIVE_LIB": str(build.library)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = VOCABULARY.decode(run(NEXT, NEXT[PROMPT[-1]], 64)).decode()
    assert done.stdout.startswith(answer) and 0 < float(done.stdout.removeprefix(answer)) <= 1
