"""What the spec says of a parameter or field beyond its text, as short phrases for comments and for the reference."""

from __future__ import annotations

from specbind.spec import model as m


def parameter_facts(spec: m.Spec, function: m.Function | m.Callback, param: m.Param) -> list[str]:
    """Direction, length, NULL, ownership, lifetime and range of a parameter, in this order."""
    P = m.Passing
    kind = param.type
    facts = []
    if param.passing in (P.SCALAR_OUT, P.OBJECT_OUT, P.ADDRESS_OUT, P.STRUCT_OUT, P.ARRAY_OUT, P.STRUCT_INIT):
        facts.append("out")
    elif param.passing is P.STRUCT_INOUT:
        facts.append("in and out")
    if param.unit:
        facts.append(param.unit)
    if param.passing is P.ARRAY_IN:
        facts.append(f"{param.array} elements, read during the call")
    if param.passing is P.ARRAY_OUT:
        facts.append(f"room for {param.array} elements, may be NULL if that is 0")
    if param.passing is P.STRUCT_IN:
        facts.append("read during the call")
    if param.passing is P.OBJECT_OUT:
        facts.append(object_out(spec, kind))
        if param.nullable:
            facts.append("NULL where there is none")
    elif param.nullable:
        facts.append("may be NULL")
    if param.ownership == "borrowed" and param.passing is not P.OBJECT_OUT:
        facts.append("borrowed")
    if param.ownership == "transferred":
        facts.append("ends with this call")
    if param.passing is P.ADDRESS_OUT:
        facts.append("borrowed")
    if param.lifetime:
        facts.append(valid(param.lifetime))
    if param.role == "sequence" and param.passing is P.VALUE:
        facts.append("from 0 to the number of sequences - 1" + (", or SEQ_ALL" if param.all_sequences else ""))
    facts += value_facts(param)
    return facts


def field_facts(field: m.Field) -> list[str]:
    """Unit, length, NULL, lifetime, range and default of a struct field, in this order."""
    facts = [field.unit] if field.unit else []
    if field.array:
        facts.append(f"{field.array} elements")
    if field.nullable:
        facts.append("may be NULL")
    if field.lifetime:
        facts.append(valid(field.lifetime))
    return facts + value_facts(field)


def value_facts(item: m.Param | m.Field) -> list[str]:
    """Range and default."""
    facts = []
    if item.min is not None and item.max is not None:
        facts.append(f"{item.min} to {item.max}" if item.min != item.max else f"always {item.min}")
    elif item.min is not None:
        facts.append(f"at least {item.min}")
    elif item.max is not None:
        facts.append(f"at most {item.max}")
    if item.default is not None:
        facts.append(f'default "{item.default}"' if isinstance(item.default, str) else f"default {item.default}")
    return facts


def object_out(spec: m.Spec, kind: m.Type) -> str:
    """Who releases an object that comes out, and with what."""
    if isinstance(kind, m.Ref) and kind.kind == "handle":
        return f"owned by the caller, released with {spec.prefix}{spec.handle(kind.name).release}"
    return "owned by the caller"


def valid(lifetime: str) -> str:
    """`static` -> "static"; `the next decode` -> "valid until the next decode"; `the call` -> "valid during the call"."""
    if lifetime == "static":
        return lifetime
    return "valid during the call" if lifetime == "the call" else f"valid until {lifetime}"


def noted(item: m.Function | m.Struct | m.Field | m.EnumValue) -> str:
    """Documentation of an item, begun by what to use instead if it is deprecated."""
    return f"Deprecated: {item.deprecated} {item.doc}" if item.deprecated else item.doc
