"""One exception type per status, with what the library says, and the state of the sequence that it left."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from specbind.harness.oracle.cycle import CYCLE, NEXT, run
from specbind.spec.load import load

ROOT = Path(__file__).resolve().parents[3]
SPEC = load(ROOT / "abi" / "llama_speculative.yaml")
FAILURES = [value for value in SPEC.status.values if value.value < 0]
PROMPT = run(NEXT, CYCLE[0], 24)


@pytest.mark.parametrize("value", FAILURES, ids=lambda value: value.name)
def test_each_failure_has_a_type_of_its_own_that_carries_status_and_state(binding: Any, value: Any) -> None:
    library = binding.Library()
    with pytest.raises(binding.SpeculativeError) as caught:
        library.check(value.value, lambda: "what it says", binding.SeqState.READY)
    error = caught.value
    others = {type(e) for e in (catch(library, other.value) for other in FAILURES if other is not value)}
    assert type(error) not in others and type(error) is not binding.SpeculativeError
    assert (error.status, str(error), error.seq_state) == (value.value, "what it says", binding.SeqState.READY)


def catch(library: Any, status: int) -> Exception:
    try:
        library.check(status)
    except Exception as error:
        return error
    raise AssertionError("no exception")


@pytest.fixture
def session(binding: Any, models: dict[str, Path]) -> Any:
    with binding.Session(models["target-llama"], n_ctx=128, n_batch=64, n_ubatch=64, n_threads=1) as opened:
        yield opened


def test_what_the_library_refuses_is_the_type_of_its_kind(binding: Any, models: dict[str, Path], session: Any) -> None:
    target, draft = models["target-llama"], str(models["draft-llama-bigvocab"])
    with pytest.raises(binding.ModelError, match=r"nowhere\.gguf"):
        binding.Session("/nowhere.gguf")
    with pytest.raises(binding.UnsupportedError, match="vocabulary"):
        binding.Session(target, model_draft=draft, strategies="draft-simple")
    with pytest.raises(binding.InvalidArgumentError, match="draft-simpel"):
        binding.Session(target, strategies="draft-simpel")
    with pytest.raises(binding.CallOrderError):
        session.speculative.commit(1)
    with pytest.raises(binding.BusyError):
        binding.Speculative(session.handles.ctx_tgt)
    list(session.generate(PROMPT, n_predict=4))
    with pytest.raises(binding.StateError):
        session.speculative.load(b"not a state")


def test_an_error_says_how_it_left_the_sequence(binding: Any, session: Any) -> None:
    list(session.generate(PROMPT, n_predict=4))
    with pytest.raises(binding.SpeculativeError) as caught:
        session.speculative.commit(1)
    assert caught.value.seq_state == binding.SeqState.READY
    with pytest.raises(binding.InvalidArgumentError):
        session.generate([10, 1_000_000])


def test_text_with_nul_is_refused_before_it_is_cut(session: Any) -> None:
    with pytest.raises(ValueError, match="NUL"):
        session.tokenize("a\0b")


def test_a_moved_field_is_named_although_the_size_is_the_same(binding: Any, doctored: Path) -> None:
    with pytest.raises(binding.AbiMismatchError) as caught:
        binding.Library(doctored)
    said = str(caught.value).splitlines()[1:]
    assert [line.split(":")[0].strip() for line in said] == ["counters.n_drafted", "counters.n_accepted"]
    assert "offset 24 and size 8 here, offset 32 and size 8 in the library" in said[0]


def test_another_library_with_the_same_names_does_no_harm(build: Any, models: dict[str, Path], doctored: Path) -> None:
    """It is loaded first and offers its symbols to everybody; calling one ends the process."""
    program = (
        "import ctypes, sys; ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)\n"
        "from llama_speculative import Library, Session\n"
        "with Session(sys.argv[3], library=Library(sys.argv[2]), n_ctx=64, n_threads=1) as session:\n"
        "    print(sum(piece.n_tokens for piece in session.generate([10], n_predict=4)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(doctored), str(build.library), str(models["target-llama"])],
        env={"PYTHONPATH": str(ROOT / "bindings_out" / "python" / "src")}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "4\n"), done.stderr


def test_a_library_that_is_not_there_is_an_error_with_its_path(binding: Any) -> None:
    with pytest.raises(binding.LibraryNotFoundError, match=r"/nowhere/lib\.so.*No such file"):
        binding.Library("/nowhere/lib.so")


def test_contexts_are_taken_as_addresses_ctypes_pointers_and_cffi_pointers(binding: Any, models: dict[str, Path], llama: Any) -> None:
    model = llama.model(models["target-llama"])
    context = llama.context(model)
    address = int(llama.ffi.cast("uintptr_t", context))
    try:
        for given in (address, ctypes.c_void_p(address), ctypes.cast(address, ctypes.POINTER(ctypes.c_char)), context):
            with binding.Speculative(given) as spec:
                assert spec.prompt(PROMPT) == binding.Status.OK
                spec.clear()
    finally:
        llama.lib.llama_free(context)
