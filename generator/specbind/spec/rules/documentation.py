"""What has to be explained."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.spec import model as m
from specbind.spec.rules.context import Context, Fault, called, kind_of


def missing(ctx: Context) -> Iterator[Fault]:
    """Parameters and fields; the schema asks for all other documentation. Objects and `struct_size` explain themselves."""
    for owner, part in ctx.parts():
        if part.doc:
            continue
        if isinstance(part, m.Field) and part.is_struct_size:
            continue
        if isinstance(part, m.Param) and part.passing is m.Passing.VALUE and kind_of(part.type) == "handle":
            continue
        yield Fault(part, f"{called(part, owner)} has no documentation", expected="'doc' with a sentence")
