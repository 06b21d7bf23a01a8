"""Values of the spec as C and C++ literals of their exact type."""

from __future__ import annotations

from specbind.spec import model as m


def literal(kind: m.Type, value: m.Number | str) -> str:
    """`value` as a C99 and C++ constant expression of the C type of `kind`."""
    if isinstance(kind, m.Str):
        return string(str(value))
    if not isinstance(kind, m.Scalar):  # enums are int32_t, pointers have no other default than NULL
        return str(value)
    if kind.floating:
        text = repr(float(value))
        return text + "f" if kind.bits == 32 else text
    number = int(value)
    if kind.bits == 64:
        macro = "INT64_C" if kind.signed else "UINT64_C"
        return f"(-{macro}({-number - 1}) - 1)" if number == -(2**63) else f"{macro}({number})"
    if number == -(2**31):
        return "(-2147483647 - 1)"
    return str(number) if kind.signed or not kind.bits else f"{number}u"


def string(text: str) -> str:
    """A C string literal of UTF-8 text; bytes outside ASCII and control characters become octal escapes."""
    simple = {0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x09: "\\t"}
    return '"' + "".join(simple.get(b, chr(b) if 0x20 <= b < 0x7F else f"\\{b:03o}") for b in text.encode()) + '"'


def limits(kind: m.Scalar) -> tuple[m.Number, m.Number] | None:
    """Smallest and largest value of an integer type; None for floats. `size` counts as 64 bits."""
    if kind.floating:
        return None
    bits = kind.bits or 64
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if kind.signed else (0, 2**bits - 1)
