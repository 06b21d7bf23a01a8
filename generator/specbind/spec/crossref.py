"""Names in backticks in the documentation of a spec, and what they refer to.

A single pair of backticks around an identifier is a cross reference: ``see `init` ``. Text between double backticks, or
anything that is not an identifier such as `n + 1`, is code and is not looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specbind.spec import model as m

Scope = m.Function | m.Callback | m.Struct | m.Enum | m.Handle | m.ForeignType | m.Constant | m.Group | m.Spec
Part = m.Param | m.Field | m.EnumValue
Target = m.Function | m.Callback | m.Struct | m.Enum | m.Handle | m.ForeignType | m.Constant | Part

# Double backticks first, so that what is inside them is skipped.
MENTION = re.compile(r"``.+?``|`([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?)`", re.DOTALL)


def mentions(text: str) -> Iterator[re.Match[str]]:
    """Each cross reference in a documentation text; group 1 is the name."""
    return (match for match in MENTION.finditer(text) if match[1])


class CrossReferences:
    """Looks names up in one spec."""

    def __init__(self, spec: m.Spec) -> None:
        items: tuple[Target, ...] = (
            *spec.functions, *spec.structs, *spec.enums, *spec.callbacks, *spec.handles, *spec.foreign, *spec.constants,
        )  # fmt: skip
        self.everywhere: dict[str, Target] = {}
        for item in items:
            self.everywhere.setdefault(item.name, item)
        for enum in spec.enums:
            for value in enum.values:
                self.everywhere.setdefault(enum.prefix.upper() + value.name, value)
        for item in items:
            for part in parts(item):
                self.everywhere.setdefault(f"{item.name}.{part.name}", part)
        self.structs = {s.name: s for s in spec.structs}
        self.holders: dict[str, list[m.Struct]] = {}  # enum -> structs with a field of it
        for struct in spec.structs:
            for name in {f.type.name for f in struct.fields if isinstance(f.type, m.Ref) and f.type.kind == "enum"}:
                self.holders.setdefault(name, []).append(struct)

    def resolve(self, scope: Scope, name: str) -> Target | None:
        """What `name` means in the documentation of `scope` or of one of its parts; None if nothing has that name.

        Nearest first: parameters, fields or values of the scope itself; then fields of the structs that a function takes,
        or that hold an enum; then functions, types, constants and enum values (`ERROR_STATE`, `FINISH_EOG`); then
        `owner.part`.
        """
        nearest = next((part for part in self.near(scope) if part.name == name), None)
        return nearest or self.everywhere.get(name)

    def near(self, scope: Scope) -> Iterator[Part]:
        """What may be mentioned in `scope` by a name that means something else, or nothing, elsewhere."""
        yield from parts(scope)
        for struct in self.neighbours(scope):
            yield from struct.fields

    def visible(self, scope: Scope) -> Iterator[str]:
        """Every name that documentation of `scope` may mention."""
        yield from (part.name for part in self.near(scope))
        yield from self.everywhere

    def neighbours(self, scope: Scope) -> list[m.Struct]:
        """Structs whose fields an item's documentation speaks of without naming the struct."""
        if isinstance(scope, m.Enum):
            return self.holders.get(scope.name, [])
        types = [p.type for p in scope.params] if isinstance(scope, (m.Function, m.Callback)) else []
        names = dict.fromkeys(t.name for t in types if isinstance(t, m.Ref) and t.kind == "struct")
        return [self.structs[name] for name in names if name in self.structs]


def parts(scope: Scope | Target) -> tuple[Part, ...]:
    """What is declared inside an item."""
    if isinstance(scope, (m.Function, m.Callback)):
        return scope.params
    if isinstance(scope, m.Struct):
        return scope.fields
    return scope.values if isinstance(scope, m.Enum) else ()
