"""`specbind demo`: the same greedy prompt with and without speculation, through the Python binding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

# Code to be repeated: what an n-gram strategy is good at, and what editors ask of a model all day.
CODE = """\
class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def pop(self):
        return self.items.pop()

    def is_empty(self):
        return len(self.items) == 0
"""
PROMPT = f"Here is a Python class:\n\n```python\n{CODE}```\n\nWrite the same class again, exactly as it is."

EPILOG = """\b
Examples:
  specbind demo
  specbind demo --model my.gguf --strategies ngram-simple --prompt "Repeat after me: ..."
  specbind demo --model target.gguf --draft draft.gguf --strategies draft-simple

\b
Exit codes:
  0  tokens of a draft were accepted, and the text is the target's own
  1  nothing was accepted, or a model or the library cannot be had
  2  wrong arguments
"""


@dataclass(frozen=True)
class Run:
    """One model, one prompt, one way to speculate."""

    title: str
    model: Path
    prompt: str
    chat: bool
    n_predict: int
    options: dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    text: str
    tokens_per_second: float
    drafted: int
    accepted: int
    emitted: int
    rate: float


@click.command(epilog=EPILOG)
@click.option("--model", type=click.Path(path_type=Path), metavar="GGUF", help="Target; default is SmolLM2-135M and a small MTP model.")
@click.option("--draft", type=click.Path(path_type=Path), metavar="GGUF", help="Draft model, for draft strategies.")
@click.option("--prompt", metavar="TEXT", help="What to ask; default asks to repeat code.")
@click.option("--strategies", default="ngram-map-k", show_default=True, metavar="LIST", help="As in the ABI's params.")
@click.option("-n", "--n-predict", default=160, show_default=True, type=click.IntRange(min=1), metavar="N", help="Tokens to generate.")
@click.option("--threads", default=0, type=click.IntRange(min=0), metavar="N", help="Threads; 0 is the library's choice.")
def command(model: Path | None, draft: Path | None, prompt: str | None, strategies: str, n_predict: int, threads: int) -> None:
    """Generate with a real model, with and without speculation."""
    from rich.console import Console

    from specbind.native import NativeError
    from specbind.native.progress import for_stderr

    console = Console(highlight=False, soft_wrap=True)
    ngram = {"strategies": strategies, "ngram_map_k_n": 3, "ngram_map_k_m": 8, "ngram_simple_n": 3, "ngram_simple_m": 8}
    if draft is not None:
        ngram["model_draft"] = str(draft)
    try:
        binding = import_binding()
        runs = [Run(strategies, model or real_model(for_stderr()), prompt or PROMPT, True, n_predict, {**ngram, "n_threads": threads})]
        if model is None:
            runs += trained_mtp(threads)
        accepted = [show(console, binding, run) for run in runs]
    except Exception as error:
        if not isinstance(error, (NativeError, *binding_errors())):
            raise
        click.echo(f"specbind demo: {error}", err=True)
        raise SystemExit(1) from None
    if not all(accepted):
        raise SystemExit(1)


def import_binding() -> Any:
    """The generated Python binding of this checkout, with the library that was built last."""
    import os
    import sys

    from specbind.native import find_library
    from specbind.native.paths import checkout

    os.environ["LLAMA_SPECULATIVE_LIB"] = str(find_library())
    sys.path.insert(0, str(checkout() / "bindings_out" / "python" / "src"))
    import llama_speculative

    return llama_speculative


def binding_errors() -> tuple[type[Exception], ...]:
    """What the binding raises; nothing if it could not be imported."""
    import sys

    module = sys.modules.get("llama_speculative")
    return (module.SpeculativeError, module.AbiMismatchError, module.LibraryNotFoundError) if module else ()


def real_model(progress: Any) -> Path:
    from specbind.models import smollm2

    return smollm2(progress)


def trained_mtp(threads: int) -> Sequence[Run]:
    """A run with the trained MTP model of the tests. It is too small to gain time: its acceptance is what it shows."""
    from specbind.native.paths import checkout

    path = checkout() / "tests" / "models" / "tiny-mtp" / "tiny-mtp-f16.gguf"
    options = {"strategies": "draft-mtp", "n_draft_max": 3, "n_threads": threads or 1}
    return [Run("draft-mtp, three heads", path, "And it came to pass", False, 96, options)] if path.is_file() else []


def show(console: Console, binding: Any, run: Run) -> bool:
    """Both ways, one after the other; true when drafts were accepted and the text is the same."""
    from rich.table import Table

    console.rule(f"{run.model.name}: {run.title}")
    console.print("accepted draft tokens look ", mark(console, "like this"), ", sampled ones like this\n", sep="")
    spec = generate(console, binding, run, run.options)
    console.print("\n")
    plain = generate(None, binding, run, {**run.options, "strategies": "none", "model_draft": None})

    table = Table(box=None, pad_edge=False)
    for column in ("", "tokens", "drafted", "accepted", "acceptance", "tokens/s"):
        table.add_column(column, justify="right" if column else "left")
    table.add_row("plain", str(plain.emitted), "-", "-", "-", f"{plain.tokens_per_second:.1f}")
    table.add_row(
        "speculative", str(spec.emitted), str(spec.drafted), str(spec.accepted), f"{spec.rate:.0%}", f"{spec.tokens_per_second:.1f}"
    )
    console.print(table)
    same = len(common_prefix(spec.text, plain.text))
    equal = spec.text == plain.text
    console.print(
        f"{spec.tokens_per_second / plain.tokens_per_second:.2f} times the speed of plain decoding; "
        + ("the text is the same.\n" if equal else f"the first {same} characters are the same.\n")
    )
    return spec.accepted > 0


def generate(console: Console | None, binding: Any, run: Run, options: dict[str, Any]) -> Outcome:
    """Generate once; with a console, show each piece as it comes."""
    parts = []
    with binding.Session(run.model, n_ctx=1024, **options) as session:
        prompt = session.chat([("user", run.prompt)]) if run.chat else run.prompt
        for piece in session.generate(prompt, n_predict=run.n_predict):
            parts.append(piece.text)
            if console is not None:
                drafted = piece.n_tokens_draft > 0
                console.print(mark(console, piece.text) if drafted else plain_text(piece.text), end="")
        result = session.result
    seconds = max(result.t_generate_us, 1) / 1e6
    return Outcome(
        "".join(parts), result.n_emitted / seconds, result.n_drafted, result.n_accepted, result.n_emitted, result.acceptance_rate
    )


def mark(console: Console, text: str) -> Any:
    """Text of an accepted draft token: coloured on a terminal, in brackets elsewhere."""
    from rich.text import Text

    return Text(text, style="bold green") if console.is_terminal else Text(f"[{text}]")


def plain_text(text: str) -> Any:
    from rich.text import Text

    return Text(text)


def common_prefix(a: str, b: str) -> str:
    return "".join(x for x, _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))
