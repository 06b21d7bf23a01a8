"""What `specbind bench decode` runs: models and strategies as data, the alternating runs, and the figures of each row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from specbind.harness.decode import DecodeProgram, Generation, Outcome
from specbind.harness.upstream import UpstreamLoop
from specbind.native.progress import Progress

SUITES = ("oracle", "tiny-mtp", "smollm2", "gemma3")
GOALS = {"oracle": 0.95, "tiny-mtp": 0.95, "smollm2": 0.99, "gemma3": 0.99}  # of the speed of llama.cpp's loop


@dataclass(frozen=True)
class Row:
    """One generation, measured. Rates are medians in tokens per second, ratios medians of the alternating runs."""

    suite: str
    title: str
    plain: Outcome
    upstream: Outcome
    ours: Outcome
    over_plain: float
    over_upstream: float
    allocations: tuple[float, float]  # per round: llama.cpp's loop, ours

    @property
    def reaches_goal(self) -> bool:
        return self.over_upstream >= GOALS[self.suite]

    @property
    def allocates_more(self) -> bool:
        """By one in a hundred: what grows less often than once a round, such as llama.cpp's log, makes the figures uneven."""
        theirs, ours = self.allocations
        return ours > 1.01 * theirs


def generations(suite: str, folder: Path, progress: Progress, n_threads: int) -> Iterator[tuple[str, Generation]]:
    """Title and generation of each row of a suite. Models that are not there are made or fetched."""
    if suite == "oracle":
        yield from oracle(folder)
    elif suite == "tiny-mtp":
        yield from tiny_mtp()
    else:
        yield from real(suite, progress, n_threads)


def oracle(folder: Path) -> Iterator[tuple[str, Generation]]:
    from specbind.harness.oracle.catalogue import write_all
    from specbind.harness.oracle.cycle import VOCABULARY
    from specbind.harness.strategies import ALL, PROMPT

    models = write_all(folder)
    for name, case in ALL.items():
        draft = models[case.draft] if case.draft else None
        yield name, Generation(models[case.target], draft, case.strategy, case.params, VOCABULARY.decode(PROMPT).decode(), 800)


def tiny_mtp() -> Iterator[tuple[str, Generation]]:
    from specbind.native.paths import checkout

    model = checkout() / "tests" / "models" / "tiny-mtp" / "tiny-mtp-f16.gguf"
    for n in (1, 2, 3):
        yield f"draft-mtp, {n} of 3 heads", Generation(model, None, "draft-mtp", {"n_draft_max": n}, "And it came to pass", 256)


def real(name: str, progress: Progress, n_threads: int) -> Iterator[tuple[str, Generation]]:
    from specbind.commands.demo import CODE, PROMPT
    from specbind.harness.strategies import NGRAMS
    from specbind.models import GEMMA3, SMOLLM2, fetch

    published, prompt = {
        "smollm2": (SMOLLM2, f"<|im_start|>user\n{PROMPT}<|im_end|>\n<|im_start|>assistant\n"),
        "gemma3": (GEMMA3, f"```python\n{CODE}```\n\nThe same class again:\n\n```python\n"),
    }[name]
    model = fetch(published, progress)
    for strategy in ("ngram-simple", "ngram-map-k", "ngram-map-k4v"):
        yield strategy, Generation(model, None, strategy, NGRAMS[strategy].params, prompt, 120, n_threads)


def measure(suite: str, title: str, g: Generation, program: DecodeProgram, upstream: UpstreamLoop, repeat: int) -> Row:
    """Plain, llama.cpp's loop and ours in turn, `repeat` times; then each of the loops twice for its allocations.

    llama.cpp's loop ends with the round that passes the limit, so that ours is given as many tokens as it then emits: both
    make the same rounds.
    """
    short, long = (replace(x, n_predict=upstream.run(x).n_tokens) for x in (g, g.longer()))
    plain, theirs, ours = [], [], []
    for _ in range(repeat):
        plain.append(program.run("plain", short))
        theirs.append(upstream.run(g))
        ours.append(program.run("loop", short))
    rounds = max(1, program.run("loop", long).rounds - ours[0].rounds)
    grown = [
        (upstream.allocations(program, g.longer()).total - upstream.allocations(program, g).total) / rounds,
        (program.allocations("loop", long).total - program.allocations("loop", short).total) / rounds,
    ]
    return Row(
        suite, title, middle(plain), middle(theirs), middle(ours),
        median(o.rate / p.rate for o, p in zip(ours, plain, strict=True)),
        median(o.rate / u.rate for o, u in zip(ours, theirs, strict=True)),
        (grown[0], grown[1]),
    )  # fmt: skip


def middle(outcomes: list[Outcome]) -> Outcome:
    """The one of median speed."""
    return sorted(outcomes, key=lambda o: o.rate)[len(outcomes) // 2]
