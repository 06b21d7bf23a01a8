"""What each function looks like on the hand-written side: references for what was checked, plain pointers for the rest."""

from __future__ import annotations

from specbind.emit.c.naming import CNaming
from specbind.spec import model as m

# Functions that are generated whole because the spec alone says what they answer.
WHOLE = frozenset({"abi_version", "identity_get", "status_name"})


def is_whole(spec: m.Spec, function: m.Function) -> bool:
    """Whether `function` has no hand-written part."""
    return (
        function.name in WHOLE
        or any(p.passing is m.Passing.STRUCT_INIT for p in function.params)
        or any(function.name == h.last_error for h in spec.handles)
    )


def handwritten(functions: tuple[m.Function, ...], spec: m.Spec) -> tuple[m.Function, ...]:
    """Those of `functions` that `impl.h` declares."""
    return tuple(f for f in functions if not is_whole(spec, f))


def is_handle(param: m.Param) -> bool:
    """Whether an object of ours comes in."""
    return param.passing is m.Passing.VALUE and isinstance(param.type, m.Ref) and param.type.kind == "handle"


def is_released(param: m.Param) -> bool:
    """Whether the object ends in this call, so that nothing of it may be touched afterwards."""
    return is_handle(param) and param.ownership == "transferred"


class ImplNaming(CNaming):
    """The C++ names of the hand-written side, none of which has the library's prefix."""

    def struct(self, name: str) -> str:
        return f"abi::{name}"

    def callback(self, name: str) -> str:
        return f"abi::{name}"

    def enum(self, name: str) -> str:
        return "int32_t"

    def handle(self, name: str) -> str:
        return f"spb::{name}"

    def type(self, kind: m.Type) -> str:
        if isinstance(kind, m.Ref) and kind.kind == "foreign":
            return f"{kind.name} *"
        return super().type(kind)

    def parameter_type(self, param: m.Param) -> str:
        P = m.Passing
        by_reference = {P.STRUCT_IN: "const {} &", P.STRUCT_OUT: "{} &", P.STRUCT_INOUT: "{} &"}
        if is_handle(param):
            return self.type(param.type) if param.nullable else self.type(param.type).replace("*", "&")
        if param.passing in by_reference and not (param.passing is P.STRUCT_IN and param.nullable):
            return by_reference[param.passing].format(self.element(param.type))
        return super().parameter_type(param)
