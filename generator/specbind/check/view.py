"""One way of seeing the ABI, and where it differs from the spec's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from specbind.diff.finding import Finding
from specbind.diff.table import Table, compare_tables

UNKNOWN = 0  # alignment that a language cannot tell


@dataclass(frozen=True)
class View:
    """What one of them sees: a table, or why there is none.

    `skipped` names what is missing and how to get it; it is an error only where the view is required. `failed` says what
    went wrong with tools that are there.
    """

    name: str
    title: str
    table: Table | None = None
    skipped: str = ""
    failed: str = ""


@dataclass(frozen=True)
class Outcome:
    """A view and its differences from the spec. `file` is what was looked at."""

    view: View
    findings: tuple[Finding, ...] = ()
    required: bool = False

    @property
    def status(self) -> str:
        """ok | differs | skipped | missing | failed; the last three have no findings."""
        if self.view.failed:
            return "failed"
        if self.view.table is None:
            return "missing" if self.required else "skipped"
        return "differs" if self.findings else "ok"

    @property
    def agrees(self) -> bool:
        return self.status in ("ok", "skipped")


def judge(spec: Table, view: View, *, required: bool = False) -> Outcome:
    """Compare a view with the spec's table; every difference counts, in either direction."""
    if view.table is None:
        return Outcome(view, required=required)
    seen = with_known_alignment(spec, view.table)
    return Outcome(view, (*compare_tables(spec, seen), *surplus(spec, seen)), required)


def with_known_alignment(spec: Table, seen: Table) -> Table:
    structs = {
        name: (size, spec.structs[name][1] if align == UNKNOWN and name in spec.structs else align)
        for name, (size, align) in seen.structs.items()
    }
    return replace(seen, structs=structs)


def surplus(spec: Table, seen: Table) -> Iterable[Finding]:
    """Structs and fields that the spec does not have; functions are found by the comparison itself."""
    from specbind.diff.change import found

    for name in seen.structs.keys() - spec.structs.keys():
        yield found("layout-extended", f"struct {name}", f"struct '{name}' is not in the spec")
    for owner, name in seen.fields.keys() - spec.fields.keys():
        if owner in spec.structs:
            yield found("layout-differs", f"struct {owner}.{name}", f"{name} is not in the spec")


def read_rows(text: str) -> Table:
    """The table that a program printed, a row a line. ValueError for a line that is none."""
    structs: dict[str, tuple[int, int]] = {}
    fields: dict[tuple[str, str], tuple[int, int]] = {}
    constants: dict[tuple[str, str], int] = {}
    functions: dict[str, int] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        match line.split():
            case ["struct", name, size, align]:
                structs[name] = int(size), int(align)
            case ["field", owner, name, offset, size]:
                fields[owner, name] = int(offset), int(size)
            case ["constant", owner, name, value]:
                constants["" if owner == "-" else owner, name] = int(value)
            case ["function", name, digits]:
                functions[name] = int(digits, 16)
            case _:
                raise ValueError(f"not a row of a table: {line[:80]}")
    return Table(structs, fields, constants, frozenset(functions), functions)
