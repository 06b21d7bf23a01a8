"""Which way structs cross the boundary: decides what a change of their fields means to callers."""

from __future__ import annotations

from collections.abc import Iterator

from specbind.diff.values import Flow
from specbind.spec import model as m

P = m.Passing

OF_PASSING = {
    P.STRUCT_IN: {Flow.IN},
    P.ARRAY_IN: {Flow.IN},
    P.STRUCT_OUT: {Flow.OUT},
    P.ARRAY_OUT: {Flow.OUT},
    P.ADDRESS_OUT: {Flow.OUT},
    P.STRUCT_INOUT: {Flow.IN, Flow.OUT},
}
REVERSED = {Flow.IN: Flow.OUT, Flow.OUT: Flow.IN}


def of_param(param: m.Param, *, callback: bool = False) -> Flow:
    """Who makes the value of a parameter; what goes into a callback comes from the library."""
    if param.direction == "inout":
        return Flow.BOTH
    flow = Flow.OUT if param.direction == "out" else Flow.IN
    return REVERSED[flow] if callback else flow


def of_structs(spec: m.Spec) -> dict[str, Flow]:
    """For each struct who makes it. Defaults that an init function fills in are the caller's to change, so it does not count."""
    ways: dict[str, set[Flow]] = {struct.name: set() for struct in spec.structs}
    for name, found in uses(spec):
        ways.setdefault(name, set()).update(found)  # a struct that is only declared has no fields to change
    for _ in spec.structs:  # what a struct points to goes the same way, at most as deep as there are structs
        before = {name: set(each) for name, each in ways.items()}
        for struct in spec.structs:
            for field in struct.fields:
                if is_struct(field.type):
                    ways.setdefault(field.type.name, set()).update(ways[struct.name])
        if ways == before:
            break
    return {name: next(iter(each)) if len(each) == 1 else Flow.BOTH for name, each in ways.items()}


def uses(spec: m.Spec) -> Iterator[tuple[str, set[Flow]]]:
    for function in spec.functions:
        for param in function.params:
            if is_struct(param.type):
                yield param.type.name, OF_PASSING.get(param.passing, set())
    for callback in spec.callbacks:
        for param in callback.params:
            if is_struct(param.type):
                yield param.type.name, {REVERSED[flow] for flow in OF_PASSING.get(param.passing, set())}


def is_struct(kind: m.Type) -> bool:
    return isinstance(kind, m.Ref) and kind.kind == "struct"
