"""A saved sequence goes on as if nothing had happened, here or in another process; a state that does not fit changes nothing."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from specbind.harness.oracle.cycle import CYCLE, NEXT, run
from specbind.harness.strategies import ALL, OWN_CONTEXTS, PROMPT, Case

KINDS = ALL | OWN_CONTEXTS
LOOPS = pytest.mark.parametrize("case", KINDS.values(), ids=KINDS.keys())
COLD = {"ngram-map-k", "ngram-map-k4v", "ngram-mod"}
N_MORE = 60
ROOT = Path(__file__).resolve().parents[2]

Open = Callable[[Case], AbstractContextManager[Any]]


def own_contexts(case: Case) -> dict[str, int]:
    return {"n_seq_max": 2, "n_ctx": 512 if case.contexts.get("kv_unified") else 2 * 512}


@pytest.fixture
def opened(binding: Any, models: dict[str, Path], own_loop: Callable[..., Any]) -> Open:
    """A session of the case, or a loop on contexts of one's own, with two sequences."""

    def make(case: Case) -> AbstractContextManager[Any]:
        if case.contexts:
            return own_loop(case, **own_contexts(case))  # type: ignore[no-any-return]
        return binding.Session(**case.options(models), n_seq_max=2)  # type: ignore[no-any-return]

    return make


@pytest.fixture(scope="module")
def elsewhere(build: Any, models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """`elsewhere(case name, state, n)`: what another process generates from a state."""
    folder = tmp_path_factory.mktemp("elsewhere")
    arguments = [
        ROOT / "bindings_out" / "python" / "src", json.dumps({k: str(v) for k, v in models.items()}),
        json.dumps(list(map(str, build.include_dirs))), build.lib_dir, folder,
    ]  # fmt: skip
    worker = Path(__file__).with_name("state_worker.py")
    with subprocess.Popen([sys.executable, worker, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout

        def ask(name: str, state: bytes, n: int) -> Any:
            path = folder / "state"
            path.write_bytes(state)
            request = {"case": name, "state": str(path), "n": n, "contexts": own_contexts(KINDS[name])}
            assert process.stdin and process.stdout
            print(json.dumps(request), file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()
    assert process.returncode == 0


def rounds(spec: Any, n: int, seq: int = 0) -> list[int]:
    """Tokens of rounds until there are `n`."""
    out: list[int] = []
    while len(out) < n:
        assert spec.decode() == 0
        out += spec.accepted(seq)
    return out


def counts(spec: Any) -> tuple[int, int]:
    return spec.stats().n_drafted, spec.stats().n_accepted


@pytest.mark.parametrize("name", KINDS)
def test_a_saved_sequence_goes_on_as_if_nothing_had_happened(opened: Open, elsewhere: Callable[..., Any], name: str) -> None:
    case = KINDS[name]
    with opened(case) as session:
        spec = session.speculative
        spec.prompt(PROMPT)
        rounds(spec, 20)
        spec.commit(spec.info().n_open)
        state, last, before = spec.save(), spec.info().token_last, counts(spec)
        tokens = rounds(spec, N_MORE)
        uninterrupted = tuple(after - then for after, then in zip(counts(spec), before, strict=True))
    assert tokens == run(NEXT, NEXT[last], len(tokens))
    with opened(case) as session:
        spec = session.speculative
        status = spec.load(state, 1)
        here = {"status": status.name, "tokens": rounds(spec, N_MORE, 1)}
        here |= dict(zip(("drafted", "accepted"), counts(spec), strict=True))
    if case.strategy in COLD:
        assert status.name == "COLD" and here["tokens"][:N_MORE] == tokens[:N_MORE]
    else:
        assert here == {"status": "OK", "tokens": tokens, "drafted": uninterrupted[0], "accepted": uninterrupted[1]}
    assert elsewhere(name, state, N_MORE) == here


def test_what_ngram_cache_learnt_is_saved_with_the_ties_between_its_counts(opened: Open) -> None:
    """After a token that was followed by two others equally often, it drafts the one that its table shows first."""
    case = ALL["ngram-cache"]
    prompts = [CYCLE[i : i + 5] + CYCLE[j : j + 7] for i in range(0, 40, 3) for j in (2, 25)]
    with opened(case) as session:
        spec = session.speculative
        for prompt in prompts:
            spec.prompt(prompt)
            rounds(spec, 3)
            spec.commit(spec.info().n_open)
        state, before = spec.save(), counts(spec)
        tokens = rounds(spec, N_MORE)
        uninterrupted = tuple(after - then for after, then in zip(counts(spec), before, strict=True))
    with opened(case) as session:
        assert session.speculative.load(state, 1).name == "OK"
        assert rounds(session.speculative, N_MORE, 1) == tokens
        assert counts(session.speculative) == uninterrupted


@LOOPS
def test_a_state_that_does_not_fit_changes_nothing(binding: Any, models: dict[str, Path], opened: Open, case: Case) -> None:
    with binding.Session(models["target-llama-plain"], n_ctx=512, n_threads=1) as other:
        other.speculative.prompt(PROMPT)
        foreign = other.speculative.save()
    with opened(case) as session:
        spec = session.speculative
        spec.prompt(PROMPT)
        rounds(spec, 20)
        with pytest.raises(binding.RoundOpenError, match="call commit first"):
            spec.save()
        with pytest.raises(binding.RoundOpenError, match="call commit first"):
            spec.load(foreign)
        spec.commit(spec.info().n_open)
        state, info = spec.save(), spec.info()
        bad = {b"": "fewer than its header", state[:60]: "fewer than its header", state[:-9]: "checksum", foreign: "other models", b"x" * 200: "not a saved sequence"}
        for i in range(24, len(state), len(state) // 16):
            flipped = bytearray(state)
            flipped[i] ^= 1 << i % 8
            bad[bytes(flipped)] = "checksum"
        for data, cause in bad.items():
            with pytest.raises(binding.StateError, match=cause):
                spec.load(data)
            assert spec.info() == info
        tokens = rounds(spec, 30)
        assert tokens == run(NEXT, NEXT[info.token_last], len(tokens))


def checksummed(state: bytes) -> bytes:
    """With the checksum that its bytes ask for: 64-bit FNV-1a, as the last eight bytes."""
    value = 14695981039346656037
    for byte in state[:-8]:
        value = (value ^ byte) * 1099511628211 % 2**64
    return state[:-8] + struct.pack("<Q", value)


@pytest.mark.parametrize(
    ("at", "value", "cause"),
    [
        (4, struct.pack("<I", 77), r"layout 77, this library reads layout \d"),
        (8, b"0123abcde".ljust(16, b"\0"), "saved with llama.cpp 0123abcde, this library has "),
        (24, b"\0" * 8, "other models or strategies"),
        (64, struct.pack("<Q", 2**61), "room for 512"),
        (64, struct.pack("<Q", 3), "its parts"),
        (72, struct.pack("<Q", 5), "its parts"),
        (80, struct.pack("<Q", 2**64 - 8), "its parts"),
    ],
)
def test_a_state_of_another_version_is_refused_by_what_differs(binding: Any, opened: Open, at: int, value: bytes, cause: str) -> None:
    with opened(ALL["draft-mtp, one head"]) as session:
        spec = session.speculative
        spec.prompt(PROMPT)
        rounds(spec, 20)
        spec.commit(spec.info().n_open)
        state, info = spec.save(), spec.info()
        assert checksummed(state) == state
        with pytest.raises(binding.StateError, match=cause):
            spec.load(checksummed(state[:at] + value + state[at + len(value) :]))
        assert spec.info() == info
        tokens = rounds(spec, 30)
        assert tokens == run(NEXT, NEXT[info.token_last], len(tokens))


def test_a_state_goes_only_into_contexts_that_take_it(binding: Any, own_loop: Callable[..., Any]) -> None:
    case = ALL["draft-simple"]
    with own_loop(case, n_ctx=512) as session:
        session.speculative.prompt(PROMPT)
        state = session.speculative.save()
    with own_loop(case, n_ctx=512, type_v_q8_0=1, flash_attn=1) as session:
        spec = session.speculative
        spec.prompt(run(NEXT, CYCLE[20], 30))
        info = spec.info()
        with pytest.raises(binding.StateError, match="other parameters, such as the cache type"):
            spec.load(state)
        assert (spec.info().n_tokens, spec.info().token_last) == (info.n_tokens, info.token_last)
    with own_loop(case, n_ctx=256) as session:
        session.speculative.prompt(PROMPT)
        with own_loop(case, n_ctx=512) as larger:
            larger.speculative.prompt(run(NEXT, CYCLE[0], 300))
            too_long = larger.speculative.save()
        with pytest.raises(binding.StateError, match="holds 299 tokens, but a sequence of this context has room for 256"):
            session.speculative.load(too_long)
