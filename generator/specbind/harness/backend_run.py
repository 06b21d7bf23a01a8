"""One backend in a process of its own: every strategy on the oracle models, and what else a backend can get wrong.

`python -m specbind.harness.backend_run NAME OUT` writes OUT/NAME.json, and the logits that it saw to OUT/NAME.npz; OUT/cpu.npz,
when it is there, is what they are compared with.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from specbind.harness import rpc
from specbind.harness.devices import description, driver
from specbind.harness.oracle.catalogue import write_all
from specbind.harness.oracle.cycle import CYCLE, NEXT, run
from specbind.harness.strategies import ALL, PROMPT, Case
from specbind.native.backends import Backend
from specbind.native.build import BuildResult

TOLERANCE = 0.05  # of a logit, where the winner has 20 and the others 0
N_LOGITS = 24  # rows that are compared
BUFFERS = re.compile(r"^(\w+): +(\S+) (model|KV) buffer size", re.M)


class Run:
    """A backend under test. `binding` is the Python binding with its library."""

    def __init__(self, backend: Backend, build: BuildResult, binding: Any, out: Path) -> None:
        self.backend = backend
        self.build = build
        self.binding = binding
        self.models = write_all(out / "models")
        self.lines: list[str] = []
        self.logits: dict[str, Any] = {}
        reference = out / "cpu.npz"
        self.reference: dict[str, Any] = dict(np.load(reference)) if reference.is_file() else {}
        binding.set_log(lambda _, text: self.lines.append(text))

    @property
    def device(self) -> str | None:
        return f"{self.backend.device}0" if self.backend.device else None

    def open(self, case: Case, **options: Any) -> Any:
        """A session of the case, with all layers on the device."""
        self.lines.clear()
        return self.binding.Session(**({"device": self.device} | case.options(self.models) | options))

    # --- strategies ---

    def strategy(self, name: str) -> dict[str, Any]:
        """Verdict and figures of a strategy."""
        case = ALL[name]
        if self.backend.smoke and case.strategy not in self.backend.smoke:
            return {"verdict": "skipped", "reason": f"a smoke test runs {', '.join(self.backend.smoke)} alone"}
        try:
            drafted, accepted, wrong, rows = self.generate(case)
        except self.binding.UnsupportedError as error:
            return {"verdict": "not supported", "reason": str(error)}
        difference = self.compare(name, rows)
        figures = {"drafted": drafted, "accepted": accepted, "logit_difference": difference}
        if wrong:
            return {"verdict": "wrong", "reason": wrong, **figures}
        if difference is None or difference == 0:
            return {"verdict": "exact", **figures}
        near = difference <= TOLERANCE and not self.backend.exact
        return {"verdict": "within tolerance" if near else "wrong", "reason": f"a logit differs by {difference:g}", **figures}

    def generate(self, case: Case) -> tuple[int, int, str, list[Any]]:
        """Drafted and accepted, what is wrong, and the logits behind the first tokens."""
        expected = case.expected()
        rows: list[Any] = []
        with self.open(case) as session:
            spec = session.speculative
            spec.set_limits(n_predict=case.n_predict)
            spec.prompt(PROMPT)
            tokens: list[int] = []
            while spec.decode() == 0:
                accepted = spec.accepted()
                tokens += accepted
                rows += [np.array(spec.logits(i), dtype=np.float32) for i in range(min(len(accepted), N_LOGITS - len(rows)))]
            stats = spec.stats()
        wrong = ""
        if tokens != expected.tokens:
            at = next((i for i, (a, b) in enumerate(zip(tokens, expected.tokens, strict=False)) if a != b), min(len(tokens), len(expected.tokens)))
            wrong = f"token {at} is not the target's own"
        elif (stats.n_drafted, stats.n_accepted) != (expected.drafted, expected.accepted):
            wrong = f"{stats.n_accepted} of {stats.n_drafted} tokens accepted, expected {expected.accepted} of {expected.drafted}"
        return stats.n_drafted, stats.n_accepted, wrong, rows

    def compare(self, name: str, rows: list[Any]) -> float | None:
        """Largest difference to the portable processor's logits; None without a reference."""
        assert len(rows) == N_LOGITS, f"{name} ended after {len(rows)} tokens"
        self.logits[name] = np.stack(rows)
        if name not in self.reference:
            return None
        return float(np.abs(self.logits[name] - self.reference[name]).max())

    # --- what else a backend can get wrong ---

    def rollback(self) -> str:
        """Keeping one token of each round, on attention, hybrid and windowed targets."""
        for name in self.cases("draft-simple", "draft-mtp, hybrid", "draft-simple, sliding window"):
            with self.open(ALL[name]) as session:
                spec = session.speculative
                spec.prompt(PROMPT)
                have = list(PROMPT)
                while len(have) < len(PROMPT) + 30:
                    assert spec.decode() == 0
                    have.append(spec.accepted()[0])
                    spec.commit(1)
            assert have == run(NEXT, PROMPT[0], len(have)), name
        return "one token kept of each round"

    def state(self) -> str:
        """Saved, loaded into another sequence, and continued."""
        for name in self.cases("draft-simple", "draft-mtp, hybrid", "draft-eagle3"):
            with self.open(ALL[name], n_seq_max=2) as session:
                spec = session.speculative
                spec.prompt(PROMPT)
                assert spec.decode() == 0
                spec.commit(len(spec.accepted()))
                last = spec.info().token_last
                assert spec.load(spec.save(), 1).name == "OK"
                spec.clear(0)
                tokens: list[int] = []
                while len(tokens) < 30:
                    assert spec.decode() == 0
                    tokens += spec.accepted(1)
            assert tokens == run(NEXT, NEXT[last], len(tokens)), name
        return "saved and loaded"

    def sequences(self) -> str:
        """Four at once, with the same acceptance as one."""
        for name in self.cases("draft-simple", "draft-mtp, hybrid", "draft-eagle3", "draft-dflash"):
            case = ALL[name]
            expected = case.expected()
            with self.open(case, n_seq_max=4) as session:
                spec = session.speculative
                spec.set_limits(n_predict=case.n_predict)
                spec.prompt(PROMPT * 4, [s for s in range(4) for _ in PROMPT])
                tokens: list[list[int]] = [[] for _ in range(4)]
                while spec.decode() == 0:
                    for seq in range(4):
                        tokens[seq] += spec.accepted(seq)
                counts = [(spec.stats(s).n_drafted, spec.stats(s).n_accepted) for s in range(4)]
            assert tokens == [expected.tokens] * 4, name
            assert counts == [(expected.drafted, expected.accepted)] * 4, name
        return "four at once"

    def placement(self) -> str:
        """Weights and cache of target and draft lie on the device; and on two different ones when asked for."""
        with self.open(ALL["draft-simple"]) as session:
            list(session.generate(PROMPT, n_predict=4))
        both = self.buffers()
        if not self.device:
            assert all("CPU" in owner for owner, _ in both), both
            return "CPU"
        for kind in ("model", "KV"):
            assert sum(owner.startswith(self.backend.device) and of == kind for owner, of in both) == 2, both
        assert all("CPU" not in owner for owner, of in both if of == "KV"), both
        with self.open(ALL["draft-simple"], device_draft="CPU") as session:
            list(session.generate(PROMPT, n_predict=4))
        apart = [owner for owner, of in self.buffers() if of == "KV"]
        assert len(apart) == 2 and apart[0].startswith(self.backend.device) and apart[1] == "CPU", apart
        return f"on {self.device}; the draft on CPU when asked for"

    def buffers(self) -> list[tuple[str, str]]:
        """(owner, model or KV) of each buffer that llama.cpp's log names."""
        return [(owner, kind) for _, owner, kind in BUFFERS.findall("".join(self.lines))]

    def missing_device(self) -> str:
        """A device that is not there is refused with those that are."""
        try:
            self.binding.Session(self.models["target-llama"], device="Abacus7")
        except self.binding.InvalidArgumentError as error:
            assert f"this build has {self.device or 'CPU'}" in str(error) or (self.device or "CPU") in str(error).split("this build has")[1]
            return str(error).split(": ", 1)[1]
        raise AssertionError("a device that is not there was taken")

    def product(self) -> str:
        """BLAS computes prompts: the library that is preloaded counts its matrix products."""
        import ctypes

        calls = ctypes.CDLL(None).sgemm_calls
        calls.restype = ctypes.c_long
        prompt = run(NEXT, CYCLE[0], 96)
        with self.open(ALL["draft-simple"], n_batch=128, n_ubatch=128) as session:
            before = calls()
            list(session.generate(prompt, n_predict=1))
            made = calls() - before
        assert made > 0, "no matrix product reached BLAS"
        return f"{made} matrix products"

    def variant(self) -> str:
        """The variant that was loaded is one that was shipped, and more than the baseline where the machine has more."""
        loaded = [path.name for path in self.build.lib_dir.glob("libggml-cpu-*") if str(path) in Path("/proc/self/maps").read_text()]
        assert len(loaded) == 1, loaded
        assert not any(name in loaded[0] for name in self.backend.leave_out)
        flags = Path("/proc/cpuinfo").read_text()
        assert "avx2" not in flags or loaded[0] not in ("libggml-cpu-x64.so", "libggml-cpu-sse42.so"), loaded
        return loaded[0]

    def layout(self) -> str:
        """The library's own table and its exported names are the spec's."""
        from specbind.check.view import View, judge
        from specbind.diff.library import host_target, read_library
        from specbind.diff.table import of_spec
        from specbind.native.paths import checkout
        from specbind.spec.load import load
        from specbind.spec.locate import SPEC

        expected = of_spec(load(checkout() / SPEC), host_target())
        table = read_library(self.build.library).table
        differences = [f.message for f in judge(expected, View("library", self.build.library.name, table)).findings]
        exports = table.exports or frozenset()
        assert not differences and exports == table.functions, differences or exports ^ table.functions
        return f"{len(table.structs)} structs, {len(exports)} functions"

    def cases(self, *names: str) -> Iterator[str]:
        return (name for name in names if not self.backend.smoke or ALL[name].strategy in self.backend.smoke)

    def checks(self) -> dict[str, Callable[[], str]]:
        own: dict[str, Callable[[], str]] = {"blas": self.product, "cpu-variants": self.variant}
        common = {
            "layout": self.layout, "rollback": self.rollback, "state": self.state, "four sequences": self.sequences, "placement": self.placement,
            "missing device": self.missing_device,
        }  # fmt: skip
        return common | ({self.backend.name: own[self.backend.name]} if self.backend.name in own else {})


def result(check: Callable[[], str]) -> dict[str, str]:
    try:
        return {"verdict": "ok", "what": check()}
    except Exception as error:  # whatever it is, it is this check's
        return {"verdict": "wrong", "what": f"{type(error).__name__}: {error}"}


@contextmanager
def devices(backend: Backend, build: BuildResult, folder: Path) -> Iterator[None]:
    """The backend's devices, known in this process."""
    if not backend.servers:
        yield
        return
    with rpc.servers(build, 1, folder) as started:
        rpc.register(build, [server.endpoint for server in started])
        yield


def main(name: str, out: Path) -> None:
    from specbind import native
    from specbind.native.backends import all_backends
    from specbind.native.paths import checkout

    backend = all_backends(checkout())[name]
    build = native.build(backend=name, latest=False)
    os.environ["LLAMA_SPECULATIVE_LIB"] = str(build.library)
    sys.path.insert(0, str(checkout() / "bindings_out" / "python" / "src"))
    import llama_speculative as binding

    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, devices(backend, build, Path(folder)):
        under_test = Run(backend, build, binding, out)
        strategies = {case: under_test.strategy(case) for case in ALL}
        checks = {what: result(check) for what, check in under_test.checks().items()}
        facts = binding.build_info()
        device = under_test.device or "CPU"
        seen = description(build, device)
    np.savez(out / f"{name}.npz", **under_test.logits)
    report = {
        "backend": name, "date": date.today().isoformat(), "device": f"{device}: {seen}" if seen else device, "driver": driver(backend),
        "llama_commit": facts.llama_commit,
        "strategies": strategies, "checks": checks,
    }  # fmt: skip
    (out / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
