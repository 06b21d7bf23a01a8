"""How the libraries of a tried series are laid out, and how tests are pointed at them."""

from __future__ import annotations

from pathlib import Path

import pytest

from specbind.native import NativeError
from specbind.native.build import library_file
from specbind.native.prebuilt import prebuilt
from specbind.propose.attempt import lay_out

BUILT = ["libllama.so", "libllama.so.0", "libllama-common.so", "libllama-speculative.so", "libllama-speculative.so.0", "libmtmd.so",
         "libggml.so", "libggml-base.so", "libggml-cpu.so", "test-c"]  # fmt: skip


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A tree and its build."""
    for name in ("include/llama.h", "ggml/include/ggml.h", "tools/speculative/llama-speculative.h", "tools/speculative/llama-speculative-impl.h"):
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).touch()
    (tmp_path / "build" / "bin").mkdir(parents=True)
    for name in BUILT:
        (tmp_path / "build" / "bin" / name).write_text(name, encoding="utf-8")
    return tmp_path


@pytest.mark.skipif(library_file("x") != "libx.so", reason="the names are those of Linux")
@pytest.mark.parametrize("library", ["llama-speculative", "llama"])
def test_the_libraries_lie_beside_their_headers(built: Path, library: str) -> None:
    lib = lay_out(built / "tree", built / "build", built / "out", library)
    beside = {"libllama-speculative.so", "libllama-speculative.so.0"} if library != "llama" else set()
    assert {path.name for path in lib.iterdir()} == beside | {
        "libllama.so", "libllama.so.0", "libggml.so", "libggml-base.so", "libggml-cpu.so", "libllama_speculative.so"
    }  # fmt: skip
    assert (lib / "libllama_speculative.so").read_text(encoding="utf-8") == f"lib{library}.so"
    assert {path.name for path in (lib.parent / "include").iterdir()} == {"llama.h", "ggml.h", "llama-speculative.h"}
    result = prebuilt(lib)
    assert (result.library, result.lib_dir) == (lib / "libllama_speculative.so", lib)
    assert result.include_dirs[0] == lib.parent / "include"


def test_a_folder_without_the_library_is_named(tmp_path: Path) -> None:
    with pytest.raises(NativeError, match=rf"SPECBIND_LIBRARY_DIR is {tmp_path}, and {tmp_path}/{library_file('llama_speculative')} is missing"):
        prebuilt(tmp_path)
