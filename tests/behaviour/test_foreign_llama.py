"""A libllama that is not the one this library was built with is reported, or refused when its structs differ."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="preloads a library")

ANOTHER_VERSION = 'extern "C" const char * llama_version(void) { return "0.0.1-other"; }\n'
ANOTHER_LAYOUT = """
#include "llama.h"
#include <cstring>
// what a caller sees whose struct begins with a field more than the library's
extern "C" llama_context_params llama_context_default_params(void) {
    llama_context_params p;
    std::memset(&p, 0, sizeof(p));
    p.n_batch = 512;
    p.n_ubatch = 2048;
    return p;
}
"""
PROGRAM = """
import sys, llama_speculative as ls
from llama_speculative._library import default_library
library = default_library()
lines = []
@library.ffi.callback("void(int32_t, const char *, void *)")
def note(level, text, user):
    if level == ls.LogLevel.WARN:
        lines.append(library.ffi.string(text).decode())
library.lib.llama_speculative_log_set(note, library.ffi.NULL)
try:
    with ls.Session(sys.argv[1], n_ctx=256, n_threads=1) as session:
        list(session.generate([5, 6, 7], n_predict=4))
    print("ran")
except ls.UnsupportedError as error:
    print(error)
library.lib.llama_speculative_log_set(library.ffi.NULL, library.ffi.NULL)
print(*[line for line in lines if "libllama" in line], sep="")
"""


def said(build: Any, source: str, model: Path, folder: Path) -> str:
    """What the program prints with a library made of `source` before libllama."""
    (folder / "stub.cpp").write_text(source, encoding="utf-8")
    includes = [f"-I{path}" for path in build.include_dirs]
    subprocess.run(["c++", "-shared", "-fPIC", *includes, folder / "stub.cpp", "-o", folder / "stub.so"], check=True)
    env = {**os.environ, "LD_PRELOAD": str(folder / "stub.so"), "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, "-c", PROGRAM, model], capture_output=True, text=True, check=True, env=env).stdout


def test_another_version_is_reported_once(binding: Any, build: Any, models: dict[str, Path], tmp_path: Path) -> None:
    first, *lines = said(build, ANOTHER_VERSION, models["target-llama"], tmp_path).splitlines()
    assert first == "ran"
    assert len([line for line in lines if line]) == 1
    assert "the loaded libllama is 0.0.1-other, this library was built with" in lines[0]


def test_another_layout_is_refused(binding: Any, build: Any, models: dict[str, Path], tmp_path: Path) -> None:
    text = said(build, ANOTHER_LAYOUT, models["target-llama"], tmp_path)
    assert "was built from another llama.cpp than this library" in text
    assert "Load the libllama that lies beside this library" in text
