"""What lets a struct grow without breaking programs that were compiled before."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.layout.engine import Gap, gaps, layout
from specbind.layout.targets import TARGETS, Target
from specbind.spec import model as m
from specbind.spec.rules.context import Context, Fault, called, kind_of, listing


def size_first(ctx: Context) -> Iterator[Fault]:
    for struct in ctx.spec.structs:
        first = struct.fields[0]
        if struct.growable and not (first.is_struct_size and first.type == m.SCALARS["u32"]):
            message = f"growable struct '{struct.name}' begins with '{first.name}' of type '{first.type.name}'"
            yield Fault(
                first,
                message,
                expected="the first field 'struct_size' of type u32, by which the library knows the caller's version",
            )


def size_elsewhere(ctx: Context) -> Iterator[Fault]:
    for struct in ctx.spec.structs:
        for index, field in enumerate(struct.fields):
            if not field.is_struct_size or (struct.growable and index == 0):
                continue
            if struct.growable:
                message, expected = f"'struct_size' is not the first field of '{struct.name}'", "it as the first field"
            else:
                message = f"struct '{struct.name}' has a 'struct_size' but is not growable"
                expected = "growable: true, or no such field"
            yield Fault(field, message, expected=expected)


def padding(ctx: Context) -> Iterator[Fault]:
    """One fault for each hole, naming every target that has it."""
    for struct in ctx.spec.structs:
        if any(kind_of(f.type) == "unknown" for f in struct.fields):
            continue
        holes: dict[tuple[str, str | None], dict[str, Gap]] = {}
        for targets in alike():
            for gap in gaps(layout(struct, targets[0])):
                holes.setdefault((gap.after, gap.before), {}).update(dict.fromkeys((t.name for t in targets), gap))
        for (after, before), found in holes.items():
            sizes = sorted({gap.size for gap in found.values()})
            size = " or ".join(map(str, sizes)) + (" byte" if sizes == [1] else " bytes")
            where = f"between '{after}' and '{before}'" if before else f"after the last field '{after}'"
            on = "every target" if len(found) == len(TARGETS) else listing([name for name in TARGETS if name in found])
            yield Fault(
                struct.field(before or after),
                f"struct '{struct.name}' has {size} of implicit padding {where} on {on}",
                expected="fields in another order, or a field 'reserved' in the hole",
            )


def alike() -> list[list[Target]]:
    """The targets in groups whose layouts are always the same."""
    groups: dict[tuple[int, int, int], list[Target]] = {}
    for target in TARGETS.values():
        groups.setdefault((target.pointer, target.align_i64, target.align_f64), []).append(target)
    return list(groups.values())


def defaults_without_init(ctx: Context) -> Iterator[Fault]:
    for struct in ctx.spec.structs:
        with_default = [f for f in struct.fields if f.default is not None]
        if with_default and struct.init is None:
            message = f"struct '{struct.name}' has defaults but no function that fills them in"
            yield Fault(with_default[0], message, "default", expected=f"'init' of struct '{struct.name}', or no default")
        if struct.init is not None and not struct.growable:
            message = f"struct '{struct.name}' has an init function but cannot grow, so that no default could ever be added"
            yield Fault(struct, message, "init", expected="growable: true")


def out_structs(ctx: Context) -> Iterator[Fault]:
    written = (m.Passing.STRUCT_OUT, m.Passing.STRUCT_INOUT)
    for owner, param in ctx.params():
        struct = ctx.struct(param.type)
        if struct is not None and param.passing in written and not struct.growable:
            message = f"{called(param, owner)} is written by the library, but struct '{struct.name}' is not growable"
            yield Fault(
                param, message, "type", expected=f"growable: true for '{struct.name}', so that the library knows how much fits"
            )


def arrays_of_growable(ctx: Context) -> Iterator[Fault]:
    for owner, part in ctx.parts():
        struct = ctx.struct(part.type)
        if part.array is not None and struct is not None and struct.growable:
            message = f"{called(part, owner)} is an array of the growable struct '{struct.name}'"
            expected = "a struct with growable: false, because the distance of elements is compiled into the caller"
            yield Fault(part, message, "type", expected=expected)
