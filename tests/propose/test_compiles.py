"""The new library and the changed files compile, without warnings that llama.cpp turns on, and lay the structs out as the spec says."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from specbind.emit.c import assertions
from specbind.spec import model as m

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wcast-qual", "-Wno-unused-function"]
CXX = ["-std=c++17", "-O0", "-fPIC", *WARNINGS, "-Wmissing-declarations"]
C = ["-std=c11",  # as llama.cpp compiles C
      "-O0", "-fPIC", *WARNINGS, "-Wshadow", "-Wstrict-prototypes", "-Wpointer-arith"]
DEFINES = ["-DLLAMA_SHARED", "-DGGML_SHARED", "-DLLAMA_SPECULATIVE_BUILD"]
INCLUDES = ["-Itools/speculative", "-Icommon", "-isystemvendor", "-Iinclude", "-Iggml/include", "-Isrc"]
NEW = ["llama-speculative.cpp", "llama-speculative-init.cpp", "llama-speculative-seq.cpp", "llama-speculative-round.cpp",
       "llama-speculative-session.cpp", "llama-speculative-folder.cpp", "llama-speculative-identity.c"]  # fmt: skip
CHANGED = ["common/speculative.cpp", "src/llama-context.cpp", "tests/test-speculative-state.cpp", "tests/test-speculative-c-api.c",
           "tests/test-c.c", "examples/speculative-c/speculative-c.c"]  # fmt: skip


@pytest.fixture(scope="module")
def patched(tree: Path, final: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree with the series in it: links to what is as it was."""
    root = tmp_path_factory.mktemp("patched")
    for name in ("include", "ggml", "vendor"):
        (root / name).symlink_to(tree / name)
    for folder in ("src", "common"):
        (root / folder).mkdir()
        for path in (tree / folder).iterdir():
            (root / folder / path.name).symlink_to(path)
    for name, text in final.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def compiled(root: Path, *arguments: str) -> str:
    """What the compiler says. ccache makes a second run quick: all paths are relative."""
    launcher = [tool] if (tool := shutil.which("ccache")) else []
    result = subprocess.run([*launcher, *arguments], cwd=root, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stderr


@pytest.mark.parametrize("path", [*(f"tools/speculative/{name}" for name in NEW), *CHANGED])
def test_it_compiles_without_a_warning(patched: Path, path: str) -> None:
    compiler = ["cc", *C] if path.endswith(".c") else ["c++", *CXX]
    said = compiled(patched, *compiler, *DEFINES, *INCLUDES, "-c", path, "-o", f"{Path(path).name}.o")
    assert "warning" not in said


def test_the_header_stands_alone_in_c_and_in_cpp(patched: Path) -> None:
    (patched / "alone.c").write_text('#include "llama-speculative.h"\nint main(void) { return 0; }\n', encoding="utf-8")
    for compiler in (["cc", *C], ["c++", *CXX, "-x", "c++"]):
        assert compiled(patched, *compiler, "-Werror", *INCLUDES, "-fsyntax-only", "alone.c") == ""


def test_the_header_lays_every_struct_out_as_the_spec_says(patched: Path, spec: m.Spec) -> None:
    widths = {width["max"]: width["lines"] for width in assertions.assertion_values(spec)["layout_checks"]}
    checks = widths["0xFFFFFFFFFFFFFFFF"]
    assert len(checks) > 100
    body = "".join(f'_Static_assert({line}, "layout");\n' for line in checks)
    (patched / "layout.c").write_text(f'#include "llama-speculative.h"\n#include <stddef.h>\n{body}', encoding="utf-8")
    compiled(patched, "cc", "-std=c11", *INCLUDES, "-fsyntax-only", "layout.c")


def test_hidden_row_functions_have_c_names(patched: Path) -> None:
    compiled(patched, "c++", *CXX, *DEFINES, *INCLUDES, "-c", "src/llama-context.cpp", "-o", "llama-context.cpp.o")
    names = subprocess.run(["nm", "--defined-only", "llama-context.cpp.o"], cwd=patched, check=True, capture_output=True, text=True).stdout
    defined = {line.split()[-1] for line in names.splitlines()}
    assert {"llama_set_embeddings_nextn", "llama_get_embeddings_nextn", "llama_get_embeddings_nextn_ith", "llama_set_nextn_layer_offset",
            "llama_n_outputs_max", "llama_get_ctx_type", "llama_get_ctx_other"} <= defined  # fmt: skip
