"""The shared cases: what every language's binding must do with the same models, written once as YAML.

A runner is a small program per language. It reads cases as lines of text, since not every language reads JSON or YAML
without help, runs each through one layer of its binding, and writes what it saw as lines of text. Everything that needs
judgement is here: paths, expectations, comparison. tests/cases/README.md documents both formats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specbind.harness.oracle import cycle

CASES = Path(__file__).resolve().parents[3] / "tests" / "cases"
LAYERS = ("session", "loop", "primitives")
MAPS = {"next": cycle.NEXT, "next_eos": cycle.NEXT_EOS}
KEYS = frozenset("about layers target draft load_mtp context params prompt sequences n_predict stops expect".split())
EXPECTED_KEYS = frozenset("tokens count text drafted accepted finish error message".split())

# Of contexts, whoever makes them: the session, or the runner through the test helper.
CONTEXT = {"n_ctx": 512, "n_batch": 64, "n_ubatch": 64}


class CaseError(ValueError):
    """A case file that says something wrong; the text names file and key."""


@dataclass(frozen=True)
class Case:
    """One case. Counts are those of one sequence; `error` is a status name, `message` what its text must contain."""

    name: str
    layers: tuple[str, ...]
    target: str
    draft: str | None
    load_mtp: bool
    context: dict[str, int]
    params: dict[str, Any]
    prompt: list[int]
    sequences: int
    n_predict: int
    stops: list[str]
    tokens: list[int] | None = None
    text: bytes | None = None
    drafted: int | None = None
    accepted: int | None = None
    finish: str | None = None
    error: str | None = None
    message: str = ""

    def lines(self, layer: str, models: Mapping[str, Path]) -> Iterator[str]:
        """The case for a runner. A model that the oracle does not have keeps its name as its path."""
        yield f"case {self.name} {layer}"
        yield f"target {models.get(self.target, self.target)}"
        if self.draft:
            yield f"draft {models.get(self.draft, self.draft)}"
        yield f"load_mtp {int(self.load_mtp)}"
        yield f"sequences {self.sequences}"
        yield from (f"context {key} {value}" for key, value in self.context.items())
        yield from (f"params {key} {value}" for key, value in self.params.items())
        yield f"n_predict {self.n_predict}"
        yield from (f"stop {stop.encode().hex()}" for stop in self.stops)
        yield "prompt " + " ".join(map(str, self.prompt))
        yield "end"


@dataclass
class Observation:
    """What a runner saw of one case in one layer; lists are by sequence. The session has text instead of tokens."""

    name: str
    layer: str
    tokens: list[list[int]] = field(default_factory=list)
    text: bytes | None = None
    seconds: float | None = None  # of the session's stream
    drafted: list[int] = field(default_factory=list)
    accepted: list[int] = field(default_factory=list)
    finish: list[str] = field(default_factory=list)
    error: str | None = None
    message: str = ""


def load_cases(folder: Path) -> list[Case]:
    """Every case below `folder`, by file name."""
    return [load_case(path) for path in sorted(folder.glob("*.yaml"))]


def load_case(path: Path) -> Case:
    """One file. Raises CaseError."""
    import yaml

    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    expect = raw.get("expect", {})
    for found, known in ((raw, KEYS), (expect, EXPECTED_KEYS)):
        if unknown := sorted(set(found) - known):
            raise CaseError(f"{path}: unknown key '{unknown[0]}'; there are: {', '.join(sorted(known))}")
    layers = tuple(raw.get("layers", LAYERS))
    if not set(layers) <= set(LAYERS):
        raise CaseError(f"{path}: layers are {', '.join(LAYERS)}")
    start, length = raw.get("prompt", {}).get("start", 0), raw.get("prompt", {}).get("length", 24)
    along = MAPS[expect.get("tokens", "next")]
    prompt = cycle.run(cycle.NEXT, cycle.CYCLE[start], length)
    n_predict = raw.get("n_predict", 64)
    tokens = None if "error" in expect else cycle.run(along, along[prompt[-1]], expect.get("count", n_predict))
    text = expect["text"].encode() if "text" in expect else decoded(tokens or [])
    return Case(
        name=path.stem, layers=layers, target=raw["target"], draft=raw.get("draft"), load_mtp=raw.get("load_mtp", False),
        context=CONTEXT | raw.get("context", {}), params=raw.get("params", {}), prompt=prompt, sequences=raw.get("sequences", 1),
        n_predict=n_predict, stops=raw.get("stops", []), tokens=tokens, text=text, drafted=expect.get("drafted"),
        accepted=expect.get("accepted"), finish=expect.get("finish"), error=expect.get("error"), message=expect.get("message", ""),
    )  # fmt: skip


def decoded(tokens: Sequence[int]) -> bytes:
    """Text of tokens as a session gives it: a character that was not finished is U+FFFD."""
    return cycle.VOCABULARY.decode(tokens).decode(errors="replace").encode()


def runner_input(cases: Sequence[Case], models: Mapping[str, Path], layers: Sequence[str] = LAYERS) -> str:
    """The text for a runner: every case in every layer that it asks for."""
    lines = [line for case in cases for layer in layers if layer in case.layers for line in case.lines(layer, models)]
    return "\n".join(lines) + "\n"


def parse_observations(text: str) -> list[Observation]:
    """The text of a runner. Raises CaseError on a line that is none."""
    found: list[Observation] = []
    for line in text.splitlines():
        key, _, rest = line.partition(" ")
        words = rest.split()
        if key == "case":
            found.append(Observation(words[0], words[1]))
            continue
        if not found:
            raise CaseError(f"the runner wrote {line!r} before any case")
        now = found[-1]
        if key in ("tokens", "drafted", "accepted", "finish"):
            values: list[Any] = getattr(now, key)
            if len(values) != int(words[0]):
                raise CaseError(f"{now.name}: sequence {words[0]} out of turn in {line!r}")
            values.append(words[1] if key == "finish" else list(map(int, words[1:])) if key == "tokens" else int(words[1]))
        elif key == "text":
            now.text = bytes.fromhex(rest)
        elif key == "seconds":
            now.seconds = float(rest)
        elif key == "error":
            now.error, _, now.message = rest.partition(" ")
        elif key != "end":
            raise CaseError(f"{now.name}: the runner wrote {line!r}")
    return found


def differences(case: Case, seen: Observation) -> list[str]:
    """What a runner saw otherwise than the case says, in words."""
    found = []

    def compare(what: str, expected: object, actual: object) -> None:
        if expected != actual:
            found.append(f"{what}: expected {expected!r}, got {actual!r}")

    if case.error or seen.error:
        compare("error", case.error, seen.error)
        if case.message not in seen.message:
            found.append(f"message: expected {case.message!r} in {seen.message!r}")
        return found
    if seen.layer == "session":
        compare("text", case.text, seen.text)
    elif case.tokens is not None:
        compare("tokens", [case.tokens] * case.sequences, seen.tokens)
    for what in ("drafted", "accepted"):
        if (value := getattr(case, what)) is not None:
            compare(what, [value] * case.sequences, getattr(seen, what))
    if case.finish and seen.layer != "primitives":
        compare("finish", [case.finish] * case.sequences, seen.finish)
    return found
