"""What a built library says of itself, or what it should say by the spec: places, numbers and hashes, without names of types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from specbind.diff.change import found
from specbind.diff.constants import VERSION
from specbind.diff.finding import Finding
from specbind.layout.engine import compute
from specbind.layout.signature import canonical, fnv1a64
from specbind.layout.targets import Target
from specbind.spec import model as m


@dataclass(frozen=True)
class Table:
    """An ABI as the C compiler saw it on one target. Names are those of the spec, without prefix.

    `signatures` is None where no hash can be made (a header does not know roles), `exports` where nothing was built.
    """

    structs: dict[str, tuple[int, int]]  # size, alignment
    fields: dict[tuple[str, str], tuple[int, int]]  # struct, field -> offset, size
    constants: dict[tuple[str, str], int]  # enum or empty, name -> value
    functions: frozenset[str]
    signatures: dict[str, int] | None
    exports: frozenset[str] | None = None


def of_spec(spec: m.Spec, target: Target, *, declared: bool = False) -> Table:
    """The table that a library of this ABI has on `target`."""
    layouts = compute(spec, target)
    return Table(
        structs={name: (each.size, each.align) for name, each in layouts.items()},
        fields={(name, f.name): (f.offset, f.size) for name, each in layouts.items() for f in each.fields},
        constants={("", c.name): int(c.value) for c in spec.constants if c.name not in VERSION}
        | {(e.name, v.name): v.value for e in spec.enums for v in e.values},
        functions=frozenset(f.name for f in spec.functions),
        signatures=None if declared else {f.name: fnv1a64(canonical(spec, f)) for f in spec.functions},
    )


def compare_tables(old: Table, new: Table) -> tuple[Finding, ...]:
    """All differences, the worst first."""
    every = [*symbols(old, new), *signatures(old, new), *layouts(old, new), *values(old, new)]
    return tuple(sorted(every, key=lambda finding: -finding.verdict))


def symbols(old: Table, new: Table) -> Iterator[Finding]:
    before, after = available(old), available(new)
    for name in sorted(before - after):
        listed = "it is declared, but the library does not export it" if name in new.functions else "it is not there any more"
        yield found("symbol-missing", f"function {name}", f"'{name}': {listed}", old=name)
    for name in sorted(after - before):
        listed = "" if name in new.functions else ", and its own table does not list it"
        yield found("symbol-unlisted", f"function {name}", f"'{name}' is only in the new side{listed}", new=name)


def available(table: Table) -> frozenset[str]:
    """Functions that a caller can have: what is exported where something was built, else what is declared."""
    return table.functions if table.exports is None else table.exports


def signatures(old: Table, new: Table) -> Iterator[Finding]:
    if old.signatures is None or new.signatures is None:
        return
    for name, before in old.signatures.items():
        after = new.signatures.get(name, before)
        if before != after:
            message = "another signature; two specs would say what changed"
            yield found("signature-differs", f"function {name}", message, old=f"{before:016x}", new=f"{after:016x}")


def layouts(old: Table, new: Table) -> Iterator[Finding]:
    for struct, (size, align) in old.structs.items():
        item = f"struct {struct}"
        if struct not in new.structs:
            yield found("layout-differs", item, f"struct '{struct}' is not there", old=f"{size} bytes")
            continue
        differs = list(fields(struct, old, new))
        yield from differs
        now, now_align = new.structs[struct]
        if differs or (now, now_align) == (size, align):
            continue
        rule = "layout-extended" if now > size and now_align == align else "layout-differs"
        message = f"{now} bytes aligned to {now_align}, it was {size} aligned to {align}"
        yield found(rule, item, message, old=f"{size} bytes", new=f"{now} bytes")


def fields(struct: str, old: Table, new: Table) -> Iterator[Finding]:
    for (owner, name), (offset, size) in old.fields.items():
        after = new.fields.get((owner, name))
        if owner != struct or after == (offset, size):
            continue
        before = f"offset {offset}, {size} bytes"
        message = (
            f"{name} is not there"
            if after is None
            else f"offset {after[0]} and {after[1]} bytes, it was offset {offset} and {size}"
        )
        now = "" if after is None else f"offset {after[0]}, {after[1]} bytes"
        yield found("layout-differs", f"struct {struct}.{name}", message, old=before, new=now)


def values(old: Table, new: Table) -> Iterator[Finding]:
    for (owner, name), before in old.constants.items():
        after = new.constants.get((owner, name))
        if after != before:
            item = f"enum {owner}.{name}" if owner else f"constant {name}"
            message = f"{'not there' if after is None else after}, it was {before}"
            yield found("value-differs", item, message, old=str(before), new="" if after is None else str(after))
