"""A rule that is added to the spec is kept by the built library, with no other edit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from specbind import native
from specbind.emit.core import backends
from specbind.emit.output import Change, apply
from specbind.spec.load import load

ROOT = Path(__file__).resolve().parents[2]


def edited(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"the spec has {old!r} {text.count(old)} times"
    return text.replace(old, new)


@pytest.fixture(scope="module")
def library(build: Any, binding: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The shim of a spec with a range and a nullable pointer more, and one nullable pointer less."""
    folder = tmp_path_factory.mktemp("spec")
    text = (ROOT / "abi" / "llama_speculative.yaml").read_text(encoding="utf-8")
    text = edited(
        text,
        'name: n_predict, type: i32, min: -1, role: emitted, unit: tokens,',
        'name: n_predict, type: i32, min: -1, max: 77, role: emitted, unit: tokens,',
    )
    text = edited(
        text, '{name: strategy, type: str, nullable: true,', '{name: strategy, type: str,'
    )
    text = edited(
        text, '{name: callback, type: piece_callback, nullable: true,', '{name: callback, type: piece_callback,'
    )
    text = edited(
        text, '{name: n_embd, type: i32, direction: out, role: length,', '{name: n_embd, type: i32, direction: out, nullable: true, role: length,'
    )
    path = folder / "edited.yaml"
    path.write_text(text, encoding="utf-8")
    for name, content in backends()["c"].render(load(path)).items():
        apply(folder, Change(name.replace("native/", ""), None, content))
    result = native.build(generated=folder, build_dir=folder / "build")

    # the binding's declarations without its check, which would find the signatures that differ on purpose
    import llama_speculative._raw as declared
    from cffi import FFI

    ffi = FFI()
    ffi.cdef(declared.CDEF)
    return ffi, ffi.dlopen(str(result.library))


@pytest.fixture
def spec(library: Any, models: dict[str, Path]) -> Any:
    ffi, lib = library
    params = ffi.new("llama_speculative_session_params *")
    assert lib.llama_speculative_session_params_init(params, ffi.sizeof("llama_speculative_session_params")) == 0
    path = ffi.new("char[]", str(models["target-llama"]).encode())
    params.model, params.n_ctx, params.n_threads = path, 256, 1
    out = ffi.new("llama_speculative_session **")
    assert lib.llama_speculative_session_open(params, out) == 0
    handles = ffi.new("llama_speculative_handles *", {"struct_size": ffi.sizeof("llama_speculative_handles")})
    assert lib.llama_speculative_session_handles(out[0], handles) == 0
    yield handles.spec, handles.ctx_tgt
    lib.llama_speculative_session_close(out[0])


def message(library: Any, spec: Any) -> str:
    ffi, lib = library
    return str(ffi.string(lib.llama_speculative_last_error(spec)).decode())


def test_an_added_range_is_enforced(library: Any, spec: Any) -> None:
    _, lib = library
    handle, _ = spec
    assert lib.llama_speculative_seq_set_limits(handle, 0, -1, 77) == 0
    assert lib.llama_speculative_seq_set_limits(handle, 0, -1, 78) == -1
    assert message(library, handle) == "llama_speculative_seq_set_limits: n_predict is 78, expected -1 to 77"


def test_a_pointer_that_may_no_longer_be_null_is_refused(library: Any, spec: Any) -> None:
    ffi, lib = library
    out = ffi.new("llama_speculative_counters *", {"struct_size": ffi.sizeof("llama_speculative_counters")})
    handle, _ = spec
    assert lib.llama_speculative_stats(handle, 0, ffi.NULL, out) == -1
    assert re.search(r"\bstrategy is NULL", message(library, handle))


def test_a_pointer_that_may_now_be_null_is_let_through(library: Any, spec: Any) -> None:
    ffi, lib = library
    row = ffi.new("const float **")
    # no hidden rows are kept here: the call gets past the check of n_embd to the function itself, which says so
    assert lib.llama_speculative_hidden_row(spec[1], 0, row, ffi.NULL) == -3
