"""The layout engine against arithmetic done by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from layout_c import spec_of

from specbind.layout.engine import Gap, compute, gaps, layout
from specbind.layout.targets import TARGETS
from specbind.spec import model as m

SPEC = Path(__file__).parents[2] / "abi" / "llama_speculative.yaml"


def struct(*types: str | m.Type, arrays: bool = False) -> m.Struct:
    fields = []
    for index, kind in enumerate(types):
        resolved = m.SCALARS[kind] if isinstance(kind, str) else kind
        fields.append(m.Field(f"f{index}", resolved, "", "0.1.0", array="f0" if arrays else None))
    return m.Struct("s", tuple(fields), "", "0.1.0", growable=False)


def numbers(target: str, made: m.Struct) -> tuple[list[int], int, int]:
    found = layout(made, TARGETS[target])
    return [f.offset for f in found.fields], found.size, found.align


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("x86_64-linux", ([0, 8, 16], 24, 8)),
        ("aarch64-macos", ([0, 8, 16], 24, 8)),
        ("x86_64-windows", ([0, 8, 16], 24, 8)),
        ("i686-linux", ([0, 4, 12], 16, 4)),  # 64-bit integers are aligned to 4
        ("i686-windows", ([0, 8, 16], 24, 8)),
        ("armv7-linux", ([0, 8, 16], 24, 8)),
        ("wasm32", ([0, 8, 16], 24, 8)),
    ],
)
def test_a_64_bit_integer_stands_where_the_target_wants_it(target: str, expected: tuple[list[int], int, int]) -> None:
    assert numbers(target, struct("u8", "i64", "u8")) == expected


def test_a_double_is_aligned_like_a_64_bit_integer() -> None:
    assert numbers("i686-linux", struct("u8", "f64")) == ([0, 4], 12, 4)
    assert numbers("i686-windows", struct("u8", "f64")) == ([0, 8], 16, 8)


def test_pointers_and_size_are_as_wide_as_the_target_says() -> None:
    made = struct("u8", "size", m.Str(), m.Pointer(), m.Ref("handle", "h"), m.Ref("callback", "c"), m.Ref("struct", "t"))
    assert numbers("aarch64-linux", made) == ([0, 8, 16, 24, 32, 40, 48], 56, 8)
    assert numbers("wasm32", made) == ([0, 4, 8, 12, 16, 20, 24], 28, 4)


def test_an_enum_has_four_bytes_and_an_array_is_a_pointer() -> None:
    enum = m.Ref("enum", "e")
    assert numbers("x86_64-linux", struct("u16", enum)) == ([0, 4], 8, 4)
    assert numbers("x86_64-linux", struct(enum, "u8", "i64", arrays=True)) == ([0, 8, 16], 24, 8)
    assert numbers("i686-linux", struct(enum, "u8", "i64", arrays=True)) == ([0, 4, 8], 12, 4)


def test_small_numbers_are_packed_without_holes_where_they_fit() -> None:
    assert numbers("x86_64-linux", struct("u8", "i8", "u16", "f32")) == ([0, 1, 2, 4], 8, 4)


def test_gaps_are_named_by_their_neighbours() -> None:
    found = layout(struct("u8", "u32", "u16"), TARGETS["x86_64-linux"])
    assert list(gaps(found)) == [Gap("f0", "f1", 1, 3), Gap("f2", None, 10, 2)]
    assert list(gaps(layout(struct("u32", "u16", "u16"), TARGETS["x86_64-linux"]))) == []


def test_compute_gives_every_struct_by_name() -> None:
    one, two = struct("i32"), m.Struct("other", struct("i64").fields, "", "0.1.0", growable=False)
    found = compute(spec_of((one, two)), TARGETS["x86_64-linux"])
    assert {name: (each.size, each.field("f0").size) for name, each in found.items()} == {"s": (4, 4), "other": (8, 8)}


def test_the_layout_needs_no_compiler_and_no_libclang() -> None:
    code = f"""
import sys
from pathlib import Path
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("clang", "cffi", "ctypes", "subprocess"):
            raise ImportError(name + " is not installed")
sys.meta_path.insert(0, Refuse())
from specbind.layout.engine import compute
from specbind.layout.targets import TARGETS
from specbind.spec.load import load
spec = load(Path({str(SPEC)!r}))
print(compute(spec, TARGETS["i686-linux"])["counters"].size)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("88\n", "")  # 2 * 4 + 10 * 8
