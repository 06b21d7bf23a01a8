"""C headers as sides, and specs turned into headers so that the two can be compared.

A header may lie in a temporary folder, because it comes from a commit or was generated for the comparison. Findings
point to where a reader can go: the commit's file, or the item in the spec that the header was generated from.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from specbind.diff.finding import Finding
from specbind.spec import model as m


def read_header(path: Path, includes: tuple[Path, ...], prefix: str | None) -> m.Spec:
    """A C header as far as C tells, read by libclang."""
    from specbind.cheader import import_header

    return import_header(path, include=includes, prefix=prefix)


def as_header(spec: m.Spec, includes: tuple[Path, ...]) -> m.Spec:
    """What C tells of a spec: its own header, generated and read again. Its places are in no file that stays."""
    from specbind.emit.core import backends

    if not spec.groups:  # a baseline has none, and a header shows functions by group
        spec = replace(spec, groups=(m.Group("", "", ""),), _index={})
    files = backends()["c"].render(spec)
    name, text = next((path, text) for path, text in files.items() if path.endswith(".h") and "/include/" in f"/{path}")
    with tempfile.TemporaryDirectory(prefix="specbind-") as temporary:
        made = Path(temporary, Path(name).name)
        made.write_text(text, encoding="utf-8")
        return read_header(made, includes, spec.prefix)


def named(findings: Iterable[Finding], names: dict[str, str]) -> Iterator[Finding]:
    """Findings with the files of their places under other names: `names` maps the path that was read to what a reader knows."""
    for finding in findings:
        known = names.get(finding.span.file)
        yield finding if known is None else replace(finding, span=replace(finding.span, file=known))


def placed_in(findings: Iterable[Finding], specs: Iterable[m.Spec]) -> Iterator[Finding]:
    """Findings whose place is in a generated header, at the item of the spec that it was generated from."""
    known = list(specs)
    temporary = str(Path(tempfile.gettempdir(), "specbind-"))
    for finding in findings:
        if finding.span.file.startswith(temporary):
            spans = (span for spec in known if (span := place(spec, finding.item)) is not None)
            finding = replace(finding, span=next(spans, m.NOWHERE))
        yield finding


def place(spec: m.Spec, item: str) -> m.Span | None:
    """Where the item of a path such as `function seq_copy(src)` or `struct params.n_threads` stands."""
    kind, _, rest = item.partition(" ")
    name = re.split(r"[.(]", rest)[0]
    kinds: dict[str, tuple[Any, ...]] = {
        "struct": spec.structs, "enum": spec.enums, "function": spec.functions, "callback": spec.callbacks,
        "constant": spec.constants, "handle": spec.handles, "foreign": spec.foreign,
    }  # fmt: skip
    spans: Iterator[m.Span] = (each.span for each in kinds.get(kind, ()) if each.name == name)
    return next(spans, None)
