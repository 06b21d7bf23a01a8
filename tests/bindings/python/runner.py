"""Runs the shared cases with the Python binding: it reads them from standard input and writes what it saw, see tests/cases/README.md."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import llama_speculative as ls
from cffi import FFI

from specbind.harness.llama import CDEF, DEFAULTS

ffi = FFI()
ffi.cdef(CDEF)
helper: Any = ffi.dlopen(os.environ["LLAMA_SPECULATIVE_HELPER"])
PARAMS = ls.Speculative.__init__.__kwdefaults__


@dataclass
class Case:
    name: str
    layer: str
    facts: dict[str, str] = field(default_factory=dict)
    context: dict[str, int] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    stops: list[str] = field(default_factory=list)

    @property
    def prompt(self) -> list[int]:
        return list(map(int, self.facts["prompt"].split()))

    @property
    def n_predict(self) -> int:
        return int(self.facts["n_predict"])

    @property
    def sequences(self) -> int:
        return int(self.facts["sequences"])


def read(lines: Iterator[str]) -> Iterator[Case]:
    case = Case("", "")
    for line in lines:
        key, _, rest = line.rstrip("\n").partition(" ")
        name, _, value = rest.partition(" ")
        if key == "case":
            case = Case(name, value)
        elif key == "context":
            case.context[name] = int(value)
        elif key == "params":
            case.params[name] = type(PARAMS[name] if PARAMS[name] is not None else "")(value)
        elif key == "stop":
            case.stops.append(bytes.fromhex(rest).decode())
        elif key == "end":
            yield case
        else:
            case.facts[key] = rest


def session(case: Case) -> Iterator[str]:
    options = {"model_draft": case.facts.get("draft"), "n_threads": 1, "n_seq_max": case.sequences, **case.context}
    with ls.Session(case.facts["target"], **options, **case.params) as opened:
        start = time.perf_counter()
        text = "".join(p.text for p in opened.generate(case.prompt, n_predict=case.n_predict, stops=case.stops))
        seconds = time.perf_counter() - start
        result = opened.result
    yield f"text {text.encode().hex()}"
    yield f"seconds {seconds:.6f}"
    yield f"drafted 0 {result.n_drafted}"
    yield f"accepted 0 {result.n_accepted}"
    yield f"finish 0 {result.finish.name}"


@contextmanager
def contexts(case: Case) -> Iterator[tuple[Any, Any, ls.Speculative]]:
    """Model, context and loop of the user's own; released in the order that the binding asks for."""

    def load(path: str | None, load_mtp: str = "0") -> Any:
        return ffi.gc(helper.helper_model_load(path.encode(), int(load_mtp)), helper.llama_model_free) if path else ffi.NULL

    target, draft_model = load(case.facts["target"], case.facts["load_mtp"]), load(case.facts.get("draft"))
    needs = ls.requirements(address(target), address(draft_model), **case.params)
    wanted = {"n_ctx": case.context["n_ctx"] * case.sequences, "n_seq_max": case.sequences, "n_rs_seq": needs.n_rs_seq}
    options = ffi.new("struct helper_context_options *", {**DEFAULTS, **case.context, **wanted})
    context = helper.helper_context_new(target, options)
    draft = None
    try:
        draft = ls.draft_context(address(context), address(draft_model), **case.params)
        with ls.Speculative(address(context), draft, **case.params) as spec:
            yield target, context, spec
    finally:
        if draft:
            helper.llama_free(ffi.cast("struct llama_context *", draft))
        helper.llama_free(context)


def address(pointer: Any) -> int:
    return int(ffi.cast("uintptr_t", pointer))


def loop(case: Case) -> Iterator[str]:
    with contexts(case) as (_, _, spec):
        emitted: list[list[int]] = [[] for _ in range(case.sequences)]
        for seq in range(case.sequences):
            spec.set_limits(n_predict=case.n_predict, seq=seq)
            spec.prompt(case.prompt, seq=seq)
        while spec.decode() == ls.Status.OK:
            for seq, tokens in enumerate(emitted):
                tokens += spec.accepted(seq)
        for seq, tokens in enumerate(emitted):
            stats = spec.stats(seq)
            yield " ".join(map(str, ["tokens", seq, *tokens]))
            yield f"drafted {seq} {stats.n_drafted}"
            yield f"accepted {seq} {stats.n_accepted}"
            yield f"finish {seq} {spec.info(seq).finish.name}"


def primitives(case: Case) -> Iterator[str]:
    with contexts(case) as (model, context, spec):
        n_vocab, pos0 = helper.helper_n_vocab(model), 0

        def show(tokens: list[int]) -> None:
            n = len(tokens)
            pos = list(range(pos0, pos0 + n))
            assert helper.helper_decode(context, n, tokens, pos, [0] * n, [1] * n) == 0
            spec.process(tokens, pos=pos, output=True)

        def greedy(index: int) -> int:
            row = helper.helper_logits(context, index)
            return max(range(n_vocab), key=lambda token: row[token])

        # the target evaluates all but the last token, in chunks that the strategies are shown
        *evaluated, last = case.prompt
        for start in range(0, len(evaluated), case.context["n_batch"]):
            chunk = evaluated[start : start + case.context["n_batch"]]
            show(chunk)
            pos0 += len(chunk)
        spec.begin(0, evaluated)
        emitted: list[int] = []
        drafted = accepted = 0
        while len(emitted) < case.n_predict:
            spec.draft_request(0, pos0, last, case.n_predict - len(emitted) - 1)
            spec.draft()
            draft = spec.get_draft()
            show([last, *draft])
            agreed = next((i for i, token in enumerate(draft) if greedy(i) != token), len(draft))
            last = greedy(agreed)
            emitted += [*draft[:agreed], last]
            spec.accept(0, agreed)
            pos0 += 1 + agreed
            helper.helper_seq_rm(context, 0, pos0, -1)
            drafted += len(draft)
            accepted += agreed
    yield " ".join(map(str, ["tokens", 0, *emitted]))
    yield f"drafted 0 {drafted}"
    yield f"accepted 0 {accepted}"


LAYERS: dict[str, Callable[[Case], Iterator[str]]] = {"session": session, "loop": loop, "primitives": primitives}


def main() -> None:
    helper.helper_start()
    for case in read(sys.stdin):
        try:
            seen = list(LAYERS[case.layer](case))
        except ls.SpeculativeError as error:
            seen = [f"error {error.status.name} {error}"]
        print(f"case {case.name} {case.layer}", *seen, "end", sep="\n")


if __name__ == "__main__":
    main()
