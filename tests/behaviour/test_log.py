"""The log is silent until somebody asks for it, and then it tells what llama.cpp and this library have to say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# Opens a session that is fine and one that is refused, in a process of its own, so that nothing has touched the log before.
QUIET = """
import sys, llama_speculative as ls
with ls.Session(sys.argv[1], n_ctx=256, n_threads=1) as session:
    list(session.generate([5, 6, 7], n_predict=4))
try:
    ls.Session(sys.argv[2], n_ctx=256)
except ls.ModelError as error:
    print(error)
"""


@pytest.fixture
def broken(models: dict[str, Path], tmp_path: Path) -> Path:
    """A GGUF cut short: llama.cpp says a good deal about it."""
    path = tmp_path / "cut.gguf"
    path.write_bytes(models["target-llama"].read_bytes()[:2000])
    return path


def test_nothing_is_written_to_the_terminal(binding: Any, models: dict[str, Path], broken: Path) -> None:
    paths = os.pathsep.join(sys.path)
    result = subprocess.run(
        [sys.executable, "-c", QUIET, models["target-llama"], broken],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    assert result.stderr == ""
    assert result.stdout.count("\n") == 1 and "its log says why" in result.stdout


def test_a_callback_receives_levels_and_lines(binding: Any, models: dict[str, Path], broken: Path) -> None:
    from llama_speculative._library import default_library

    library = default_library()
    lines: list[tuple[int, str]] = []
    refused: list[int] = []

    @library.ffi.callback("void(int32_t, const char *, void *)")
    def note(level: int, text: Any, user: Any) -> None:
        lines.append((level, library.ffi.string(text).decode("utf-8", "replace")))
        if not refused:
            refused.append(library.lib.llama_speculative_log_set(library.ffi.NULL, library.ffi.NULL))

    try:
        assert library.lib.llama_speculative_log_set(note, library.ffi.NULL) == 0
        with pytest.raises(binding.ModelError):
            binding.Session(broken, n_ctx=256)
    finally:
        library.lib.llama_speculative_log_set(library.ffi.NULL, library.ffi.NULL)
    assert refused == [binding.Status.ERROR_BUSY]
    errors = "".join(text for level, text in lines if level == binding.LogLevel.ERROR)
    assert "cut.gguf" in errors or "failed to load model" in errors
    assert {level for level, _ in lines} <= {level.value for level in binding.LogLevel}
    count = len(lines)
    with pytest.raises(binding.ModelError):
        binding.Session(broken, n_ctx=256)
    assert len(lines) == count, "lines came after the callback was taken away"
