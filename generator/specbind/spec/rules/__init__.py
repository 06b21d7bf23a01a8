"""The semantic rules: a code and the function that finds the faults of that code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from specbind.emit.core import Named
from specbind.spec import model as m
from specbind.spec.diagnostics import Diagnostic
from specbind.spec.rules import (
    buffers,
    documentation,
    languages,
    names,
    ownership,
    references,
    signatures,
    statuses,
    structs,
    uses,
    values,
    versions,
)
from specbind.spec.rules.context import Context, Fault


class LanguageRule(NamedTuple):
    """One rule that asks each back end, with the names that it makes."""

    code: str
    check: Callable[[m.Spec, Named, languages.Names], Iterator[Fault]]


class Rule(NamedTuple):
    """One rule; `pages/<code>.md` explains it."""

    code: str
    check: Callable[[Context], Iterator[Fault]]


REFERENCES = (
    Rule("SB020", references.types),
    Rule("SB020", references.constant_types),
    Rule("SB021", references.functions),
    Rule("SB022", references.statuses),
    Rule("SB023", references.groups),
    Rule("SB024", references.lengths),
    Rule("SB025", references.documentation),
    Rule("SB030", names.duplicates),
    Rule("SB091", references.forbidden_types),
)

MEANING = (
    Rule("SB026", uses.misfits),
    Rule("SB034", names.enum_values),
    Rule("SB035", names.handle_prefix),
    Rule("SB036", names.listed_twice),
    Rule("SB040", structs.size_first),
    Rule("SB041", structs.padding),
    Rule("SB042", structs.size_elsewhere),
    Rule("SB043", structs.defaults_without_init),
    Rule("SB044", structs.out_structs),
    Rule("SB045", structs.arrays_of_growable),
    Rule("SB050", buffers.without_length),
    Rule("SB051", buffers.without_count),
    Rule("SB052", buffers.length_types),
    Rule("SB053", buffers.count_without_buffer),
    Rule("SB060", ownership.without_release),
    Rule("SB061", ownership.not_stated),
    Rule("SB062", ownership.impossible),
    Rule("SB063", ownership.without_lifetime),
    Rule("SB064", ownership.lifetime_of_values),
    Rule("SB070", values.outside_range),
    Rule("SB071", values.range_of_no_number),
    Rule("SB072", values.empty_range),
    Rule("SB073", values.misfits),
    Rule("SB074", values.flags),
    Rule("SB080", statuses.one_status_enum),
    Rule("SB081", statuses.signs),
    Rule("SB082", statuses.wrong_list),
    Rule("SB083", statuses.without_status),
    Rule("SB084", statuses.unlisted),
    Rule("SB090", signatures.swappable),
    Rule("SB092", signatures.by_value),
    Rule("SB093", signatures.results),
    Rule("SB094", signatures.ways),
    Rule("SB095", signatures.nullable_values),
    Rule("SB096", signatures.sequences),
    Rule("SB097", signatures.user_pointers),
    Rule("SB100", versions.from_the_future),
    Rule("SB101", versions.deprecated_before_born),
    Rule("SB102", versions.inserted_fields),
    Rule("SB110", documentation.missing),
    Rule("SB111", documentation.comment_breakers),
)

# Asked last: a back end may count on a spec whose references hold.
LANGUAGES = (
    LanguageRule("SB031", languages.clashes),
    LanguageRule("SB032", languages.reserved),
    LanguageRule("SB033", languages.features),
)


def apply(ctx: Context, *, whole: bool) -> Iterator[Diagnostic]:
    """Diagnostics of all rules. `whole`: no item is missing from the model."""
    dangling = [diagnostic for rule in REFERENCES for diagnostic in diagnostics(ctx, rule.code, rule.check(ctx))]
    yield from dangling
    for rule in MEANING:
        yield from diagnostics(ctx, rule.code, rule.check(ctx))
    if whole and not dangling and ctx.status is not None:
        for backend in ctx.backends:
            made = tuple(backend.names(ctx.spec))
            for question in LANGUAGES:
                yield from diagnostics(ctx, question.code, question.check(ctx.spec, backend, made))


def diagnostics(ctx: Context, code: str, faults: Iterator[Fault]) -> Iterator[Diagnostic]:
    """The faults of one rule, with code and place."""
    return (ctx.diagnostic(code, fault) for fault in faults)
