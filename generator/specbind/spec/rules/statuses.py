"""The one enum of results, and what each function says it can return of it."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.spec import model as m
from specbind.spec.rules.context import Context, Fault, kind_of

P = m.Passing
INVALID_ARGUMENT = "ERROR_INVALID_ARGUMENT"
BUFFER_TOO_SMALL = "ERROR_BUFFER_TOO_SMALL"


def one_status_enum(ctx: Context) -> Iterator[Fault]:
    found = [e for e in ctx.spec.enums if e.role == "status"]
    for enum in found[1:]:
        message = f"enum '{enum.name}' has the role status, which '{found[0].name}' has already"
        yield Fault(enum, message, "role", expected="one enum with that role")
    # A broken enum may be the one.
    if not found and len(ctx.spec.enums) == len(ctx.built.declared["enum"]):
        place = ctx.source.place(ctx.root.entries["enums"][0])
        yield Fault(
            None, "no enum has the role status", expected="one enum with 'role: status', the results of functions", place=place
        )


def signs(ctx: Context) -> Iterator[Fault]:
    if ctx.status is None:
        return
    if not any(v.value == 0 and v.name == "OK" for v in ctx.status.values):
        yield Fault(ctx.status, f"enum '{ctx.status.name}' has no value OK with the number 0", expected="OK with value 0")
    for value in ctx.status.values:
        is_error = value.name.startswith("ERROR_")
        if value.value < 0 and not is_error:
            message = f"status '{value.name}' is negative, so an error, but not named like one"
            yield Fault(value, message, "value", expected=f"ERROR_{value.name}, or a positive number")
        elif value.value >= 0 and is_error:
            message = f"status '{value.name}' is an error but not negative"
            yield Fault(value, message, "value", expected="a negative number")


def wrong_list(ctx: Context) -> Iterator[Fault]:
    if ctx.status is None:
        return
    known = {v.name: v.value for v in ctx.status.values}
    for function in ctx.spec.functions:
        for name in function.results:
            if known.get(name, 1) <= 0:
                expected = "it in 'errors'" if known[name] < 0 else "positive statuses only: every function can return OK"
                yield Fault(function, f"'results' of function '{function.name}' lists '{name}'", "results", name, expected)
        for name in function.errors:
            if known.get(name, -1) >= 0:
                expected = "it in 'results'" if known[name] > 0 else "negative statuses only: every function can return OK"
                yield Fault(function, f"'errors' of function '{function.name}' lists '{name}'", "errors", name, expected)


def without_status(ctx: Context) -> Iterator[Fault]:
    if ctx.status is None:
        return
    for function in ctx.spec.functions:
        for key, names in (("results", function.results), ("errors", function.errors)):
            if names and not ctx.returns_status(function):
                message = f"function '{function.name}' has '{key}' but does not return '{ctx.status.name}'"
                yield Fault(function, message, key, expected=f"no '{key}', or no 'returns'")


def unlisted(ctx: Context) -> Iterator[Fault]:
    """Errors that generated checks return must be among those that a function says it can return."""
    for function in ctx.spec.functions:
        if function.raw or not ctx.returns_status(function):
            continue
        checked = next((p for p in function.params if is_checked(p)), None)
        if checked is not None and INVALID_ARGUMENT not in function.errors:
            message = f"function '{function.name}' checks '{checked.name}' but does not list {INVALID_ARGUMENT}"
            yield Fault(function, message, "errors", expected=f"{INVALID_ARGUMENT} in 'errors'")
        buffer = next((p for p in function.params if p.passing is P.ARRAY_OUT), None)
        if buffer is not None and BUFFER_TOO_SMALL not in function.errors:
            message = f"function '{function.name}' fills buffer '{buffer.name}' but does not list {BUFFER_TOO_SMALL}"
            yield Fault(function, message, "errors", expected=f"{BUFFER_TOO_SMALL} in 'errors'")


def is_checked(param: m.Param) -> bool:
    """Whether the entry point can refuse a value of this parameter."""
    if param.min is not None or param.max is not None or param.role == "sequence":
        return True
    is_pointer = param.passing is not P.VALUE or kind_of(param.type) in ("str", "handle", "foreign", "callback", "pointer")
    return is_pointer and not param.nullable
