"""`bindings_out/REPORT.md`: what was generated, so that a change of the spec or of a back end is reviewed in one diff.

It is made of all back ends' files, so it is written and checked only when all of them are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from specbind.emit import calls
from specbind.emit.core import Backend, FileMap, Named, Reported, notice
from specbind.layout.signature import spec_hash
from specbind.spec import model as m
from specbind.spec.features import FEATURES, used_features

PATH = "bindings_out/REPORT.md"


def render(spec: m.Spec, backends: Mapping[str, Backend], rendered: Mapping[str, FileMap]) -> FileMap:
    """The report as the one file of a map."""
    lines = [
        f"<!-- {notice(spec)} -->",
        "# Generation report",
        "",
        f"ABI **{spec.version}**, hash `{spec_hash(spec)}`: {counts(spec)}.",
        "",
        "| target | `--lang` | files | lines | layers |",
        "|---|---|---|---|---|",
        *(row(backend, rendered[name]) for name, backend in backends.items()),
        "",
        *housekeeping(spec),
        "",
        *features(spec, backends),
    ]
    for name, backend in backends.items():
        if isinstance(backend, Reported):
            lines += ["", *gaps(backend.title, backend, spec, rendered[name])]
    return {PATH: "\n".join(lines) + "\n"}


def counts(spec: m.Spec) -> str:
    parts = ("functions", "structs", "enums", "callbacks", "handles", "constants")
    return ", ".join(f"{len(getattr(spec, part))} {part}" for part in parts)


def row(backend: Backend, files: FileMap) -> str:
    lines = sum(text.count("\n") for text in files.values())
    layers = backend.layers if isinstance(backend, Reported) else ""
    return f"| {backend.title} | `{backend.name}` | {len(files)} | {lines} | {layers} |"


def housekeeping(spec: m.Spec) -> Iterator[str]:
    """Functions that a safe layer calls itself."""
    reasons = {h.release: "an object ends with its owner's scope" for h in spec.handles}
    reasons |= {h.last_error: "the text is in the error" for h in spec.handles if h.last_error}
    reasons |= {s.init: "options have the defaults" for s in spec.structs if s.init}
    yield "Every language declares every function in its raw layer. Its safe layer offers them too, but for those that its"
    yield "section below lists, and those that every safe layer calls itself:"
    yield ""
    yield "| function | instead |"
    yield "|---|---|"
    for function in spec.functions:
        if calls.is_housekeeping(spec, function):
            yield f"| `{function.name}` | {reasons.get(function.name, 'the load-time check reads the table')} |"


def features(spec: m.Spec, backends: Mapping[str, Backend]) -> Iterator[str]:
    """Parts of the language that this spec uses and that a target could lack, and where one does."""
    used: dict[str, int] = dict.fromkeys(FEATURES, 0)
    for use in used_features(spec):
        used[use.feature] += 1
    named = [backend for backend in backends.values() if isinstance(backend, Named)]
    lacking = {f: [(b.title, b.unsupported[f]) for b in named if f in b.unsupported] for f in FEATURES}
    yield "Parts of the spec language that a target may lack. A spec that uses one where it is lacking is refused by `specbind lint`."
    yield ""
    yield "| part | uses here | not expressible in |"
    yield "|---|---|---|"
    for feature, number in used.items():
        where = "; ".join(f"{title} (use {instead})" for title, instead in lacking[feature]) or "none"
        yield f"| {feature} | {number} | {where} |"


def gaps(title: str, backend: Any, spec: m.Spec, files: FileMap) -> Iterator[str]:
    """What is missing in a target, or was never built, and why."""
    found = tuple(backend.gaps(spec, files))
    yield f"## {title}"
    yield ""
    if not found:
        yield "Complete, and built by the tests."
    for gap in found:
        yield f"- **{gap.kind}**: {gap.what}. {gap.why}"
