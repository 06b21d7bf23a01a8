"""What each kind of declaration becomes, and that C types have their size on every target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from specbind.cheader import import_header, read_header
from specbind.layout.engine import compute
from specbind.layout.targets import TARGETS, Target
from specbind.spec import model as m

cindex = pytest.importorskip("clang.cindex", reason="libclang is missing: pip install libclang")

STANDARD = Path(__file__).parents[1] / "layout" / "include"
HEAD = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"


@pytest.fixture
def spec_of(tmp_path: Path) -> Any:
    """Imports C text."""

    def read(text: str, prefix: str | None = "shop_") -> m.Spec:
        path = tmp_path / "shop.h"
        path.write_text(HEAD + text)
        return import_header(path, prefix=prefix)

    return read


DECLARED = """
struct shop;
struct shop_till;
struct other;
struct shop_price { int32_t amount; };
typedef struct other * other_t;
typedef int32_t shop_count;
typedef int32_t shop_state;
enum { SHOP_STATE_OPEN = 1, SHOP_STATE_SHUT = 2 };
enum shop_kind { SHOP_KIND_BOOKS, SHOP_KIND_TEA };
typedef void (*shop_bell)(shop_count times, void * user);
"""
V, IN, OUT = m.Passing.VALUE, "in", "inout"
P = m.Passing

PARAMETERS = [
    ("int32_t x", "i32", V, IN),
    ("shop_count x", "i32", V, IN),
    ("unsigned long long x", "u64", V, IN),
    ("size_t x", "size", V, IN),
    ("double x", "f64", V, IN),
    ("bool x", "c bool", V, IN),
    ("long x", "c long", V, IN),
    ("char x", "c char", V, IN),
    ("shop_state x", "enum state", V, IN),
    ("enum shop_kind x", "enum kind", V, IN),
    ("const char * x", "str", V, IN),
    ("char * x", "c char", P.SCALAR_OUT, OUT),
    ("void * x", "pointer", V, OUT),
    ("const void * x", "pointer", V, IN),
    ("int32_t * x", "i32", P.SCALAR_OUT, OUT),
    ("const float * x", "f32", P.ARRAY_IN, IN),
    ("const float x[4]", "f32", P.ARRAY_IN, IN),
    ("struct shop_price x", "struct price", V, IN),
    ("struct shop_price * x", "struct price", P.STRUCT_INOUT, OUT),
    ("const struct shop_price * x", "struct price", P.STRUCT_IN, IN),
    ("struct shop_till * x", "handle till", V, OUT),
    ("const struct shop_till * x", "handle till", V, IN),
    ("struct shop_till ** x", "handle till", P.OBJECT_OUT, "out"),
    ("struct other * x", "foreign other", V, OUT),
    ("other_t x", "foreign other", V, OUT),
    ("const float ** x", "f32", P.ADDRESS_OUT, "out"),
    ("shop_bell x", "callback bell", V, IN),
    ("const char ** x", "c const char **", V, IN),
    ("const char * const * x", "c const char * const *", V, IN),
    ("void ** x", "c void **", V, IN),
    ("struct shop_price ** x", "c struct shop_price **", V, IN),
    ("int (*x)(const char *, bool[2])", "c int (*)(const char *, bool *)", V, IN),
]


@pytest.mark.parametrize(("text", "kind", "passing", "direction"), PARAMETERS, ids=[each[0] for each in PARAMETERS])
def test_a_parameter_keeps_its_type_depth_and_constness(
    spec_of: Any, text: str, kind: str, passing: m.Passing, direction: str
) -> None:
    (param,) = spec_of(f"{DECLARED}void shop_f({text});").function("f").params
    named = f"{param.type.kind} {param.type.name}" if isinstance(param.type, m.Ref) else param.type.name
    assert (param.name, named, param.passing, param.direction) == ("x", kind, passing, direction)


RESULTS = [
    ("void", None), ("int", "i32"), ("const char *", "str"), ("char *", "c char *"), ("struct shop_price", "struct price"),
    ("struct shop_till *", "handle till"), ("const struct shop_till *", "c const struct shop_till *"), ("shop_state", "enum state"),
    ("const struct shop_price *", "c const struct shop_price *"), ("float *", "c float *"), ("struct other *", "foreign other"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind"), RESULTS, ids=[each[0] for each in RESULTS])
def test_a_result_keeps_its_type(spec_of: Any, text: str, kind: str | None) -> None:
    returns = spec_of(f"{DECLARED}{text} shop_f(void);").function("f").returns
    named = f"{returns.kind} {returns.name}" if isinstance(returns, m.Ref) else returns and returns.name
    assert named == kind


def test_enums_and_constants_are_read_in_every_way_that_c_has(spec_of: Any) -> None:
    spec = spec_of(
        DECLARED + "enum { SHOP_FIRST = 3 };\n"
        "struct shop_nest { enum shop_inner { SHOP_INNER_A = 7 } inner; };\n"
        "#define SHOP_NUMBER (1 << 4 | 2u)\n#define SHOP_RATE 0.5f\n#define SHOP_NAME \"x\"\n#define SHOP_FLAG\n"
        "#define SHOP_TWICE(x) (2 * (x))\n#define SHOP_API __attribute__((visibility(\"default\")))\n#define SHOP_LATER SHOP_NOWHERE\n"
    )
    assert {e.name: {v.name: v.value for v in e.values} for e in spec.enums} == {
        "state": {"OPEN": 1, "SHUT": 2}, "kind": {"BOOKS": 0, "TEA": 1}, "inner": {"A": 7},
    }  # fmt: skip
    assert {c.name: (c.type.name, c.value) for c in spec.constants} == {
        "NUMBER": ("u32", 18), "RATE": ("f32", 0.5), "FIRST": ("i32", 3),
    }  # fmt: skip


def test_comments_deprecation_and_places_are_kept(spec_of: Any) -> None:
    spec = spec_of('// Opens.\n// Twice a day.\n__attribute__((deprecated("use shop_unlock")))\nvoid shop_open(int32_t door);\n')
    function = spec.function("open")
    assert (function.doc, function.deprecated) == ("Opens.\nTwice a day.", "use shop_unlock")
    assert (Path(function.span.file).name, function.span.line, function.span.column) == ("shop.h", 7, 6)
    assert function.params[0].span.line == 7


def test_a_handle_is_released_by_the_function_whose_name_says_so(spec_of: Any) -> None:
    spec = spec_of(
        'struct shop;\nstruct shop_till;\n__attribute__((deprecated("")))void shop_delete(struct shop * s);\n'
        "void shop_free(struct shop * s);\nvoid shop_till_close(struct shop_till * t);\nvoid shop_till_freeze(struct shop_till * t);\n"
    )
    assert {handle.c_name: handle.release for handle in spec.handles} == {"shop": "free", "shop_till": "till_close"}


def test_the_prefix_is_the_word_that_most_functions_begin_with(spec_of: Any) -> None:
    spec = spec_of("void shop_a(void);\nvoid shop_b(void);\nvoid stray(void);\nvoid shop_2d(void);\n", prefix=None)
    assert (spec.prefix, [f.name for f in spec.functions]) == ("shop_", ["a", "b", "stray", "shop_2d"])


def test_a_version_that_macros_state_is_the_library_s(spec_of: Any) -> None:
    text = "".join(f"#define SHOP_VERSION_{part} {n}\n" for part, n in (("MAJOR", 2), ("MINOR", 10), ("PATCH", 0)))
    spec = spec_of(text + "#define SHOP_VERSION (SHOP_VERSION_MAJOR << 16)\n#define SHOP_SIZE 4\n")
    assert (spec.version, [c.name for c in spec.constants]) == ("2.10.0", ["SIZE"])


def test_what_the_model_cannot_hold_is_left_out_by_name_and_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "shop.h"
    path.write_text(
        "struct shop_bits { int a : 3; };\n"
        "struct __attribute__((packed)) shop_packed { char a; int b; };\n"
        "struct shop_good { char a; int b; };\n"
        "struct shop_holds { struct shop_bits bits; };\n"
        "static inline int shop_twice(int x) { return 2 * x; }\n"
        "int shop_size(struct shop_bits * by_pointer, ...);\n"
        "int shop_take(struct shop_bits by_value);\n"
    )
    imported = read_header(path)
    assert [s.name for s in imported.spec.structs] == ["good"]
    assert [[p.name for p in f.params] for f in imported.spec.functions] == [["by_pointer", "..."], ["by_value"]]
    reasons = {each.item: each.reason for each in imported.left_out}
    assert set(reasons) == {"struct shop_bits", "struct shop_packed", "struct shop_holds", "shop_twice"}
    assert "bit-fields" in reasons["struct shop_bits"] and "bit-fields" in reasons["struct shop_holds"]
    assert "packed" in reasons["struct shop_packed"]
    assert "no symbol" in reasons["shop_twice"]


AWKWARD = """
enum shop_kind { SHOP_KIND_A };
typedef void (*shop_bell)(int);
struct shop_inner { char a; double b; char c; };
struct shop_all {
    bool flag; long count; char key[3]; unsigned long more[2]; char c; long long wide; char d; double real;
    union { int64_t as_int; double as_real; bool as_bool; char text[13]; };
    char e; struct shop_inner inner; char f; struct shop_inner row[2]; enum shop_kind kind; char g; enum shop_kind kinds[3];
    shop_bell bell; char h; void (*ring)(struct shop_inner *); char i; const float * floats; char j; size_t n; uintptr_t address;
    char k; struct { char a; short b; } named; short s; wchar_t w; char l; long double big; char m;
};
"""

PLATFORM = "typedef __UINTPTR_TYPE__ uintptr_t; typedef __WCHAR_TYPE__ wchar_t;"  # not in the small headers of the tests


@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)
def test_c_types_are_laid_out_as_clang_does_for_every_target(spec_of: Any, target: Target) -> None:
    arguments = ["-x", "c", f"--target={target.clang}", "-nostdinc", "-isystem", str(STANDARD)]
    unit = cindex.Index.create().parse("t.h", arguments, unsaved_files=[("t.h", HEAD + PLATFORM + AWKWARD)])
    assert [str(d) for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error] == []
    clang = next(c.type for c in unit.cursor.get_children() if c.spelling == "shop_all")
    ours = compute(spec_of(AWKWARD), target)["all"]
    assert [(f.offset * 8, f.size) for f in ours.fields] == [
        (f.get_field_offsetof(), f.type.get_size()) for f in clang.get_fields()
    ]
    assert (ours.size, ours.align) == (clang.get_size(), clang.get_align())
