"""Functions that the spec gives a job: they must have the signature for it."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.spec import model as m
from specbind.spec.rules.context import Context, Fault

P = m.Passing


def misfits(ctx: Context) -> Iterator[Fault]:
    for handle in ctx.spec.handles:
        kind = m.Ref("handle", handle.name)
        release = ctx.function(handle.release)
        if release is not None:
            fits = release.returns is None and [(p.type, p.ownership) for p in release.params] == [(kind, "transferred")]
            if not fits:
                message = f"function '{release.name}' cannot be the release function of handle '{handle.name}'"
                expected = f"returns: void, and one parameter of type {handle.name} with ownership transferred"
                yield Fault(handle, message, "release", expected=expected)
        last_error = ctx.function(handle.last_error)
        if last_error is not None:
            params = [(p.type, p.nullable) for p in last_error.params]
            if not isinstance(last_error.returns, m.Str) or params != [(kind, True)]:
                message = f"function '{last_error.name}' cannot give the error text of handle '{handle.name}'"
                expected = f"returns: str, and one nullable parameter of type {handle.name}"
                yield Fault(handle, message, "last_error", expected=expected)
    for struct in ctx.spec.structs:
        init = ctx.function(struct.init)
        if init is not None and not initialises(init, struct.name):
            message = f"function '{init.name}' cannot fill in the defaults of struct '{struct.name}'"
            expected = f"two parameters: type {struct.name} with direction init, then the caller's size of type size"
            yield Fault(struct, message, "init", expected=expected)
    for function in ctx.spec.functions:
        for param in function.params:
            target = ctx.struct(param.type)
            if param.passing is P.STRUCT_INIT and target is not None and target.init != function.name:
                message = f"function '{function.name}' fills in defaults but is not the init function of '{target.name}'"
                yield Fault(
                    param, message, "direction", expected=f"'init: {function.name}' in struct '{target.name}', or direction out"
                )


def initialises(function: m.Function, struct: str) -> bool:
    """Whether a function has the signature of an init function of `struct`."""
    return [(p.type, p.passing) for p in function.params] == [
        (m.Ref("struct", struct), P.STRUCT_INIT),
        (m.SCALARS["size"], P.VALUE),
    ]
