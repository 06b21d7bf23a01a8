"""The layout engine against compilers: libclang for every target, and gcc and zig cc as they build real programs."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from layout_c import INCLUDE, assertions, declarations, spec_of, torture

from specbind.emit.c import backend as c_backend
from specbind.layout.engine import StructLayout, compute
from specbind.layout.targets import TARGETS, Target
from specbind.spec.load import load

SPEC = Path(__file__).parents[2] / "abi" / "llama_speculative.yaml"
targets = pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)


def everything(target: Target) -> tuple[str, dict[str, StructLayout]]:
    """C text of the ABI's structs and of those made to be awkward, and the engine's numbers for them."""
    structs = (*load(SPEC).structs, *torture())
    return declarations(structs), compute(spec_of(structs), target)


def libclang_layouts(text: str, target: Target) -> dict[str, tuple[int, int, dict[str, int]]]:
    """Size, alignment and offsets of every struct in C text, by its tag."""
    cindex = pytest.importorskip("clang.cindex", reason="libclang is missing: pip install libclang")
    arguments = ["-std=c11", f"--target={target.clang}", "-nostdinc", "-isystem", str(INCLUDE)]
    unit = cindex.Index.create().parse("text.h", arguments, unsaved_files=[("text.h", text)])
    problems = [str(d) for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    assert problems == []  # sizes after an error are wrong without saying so
    found = {}
    for cursor in unit.cursor.get_children():
        if cursor.kind == cindex.CursorKind.STRUCT_DECL and cursor.is_definition():
            fields = {f.spelling: cursor.type.get_offset(f.spelling) // 8 for f in cursor.type.get_fields()}
            found[cursor.spelling] = (cursor.type.get_size(), cursor.type.get_align(), fields)
    return found


def as_clang_says(layouts: dict[str, StructLayout]) -> dict[str, tuple[int, int, dict[str, int]]]:
    return {name: (each.size, each.align, {f.name: f.offset for f in each.fields}) for name, each in layouts.items()}


@targets
def test_libclang_lays_every_struct_out_the_same(target: Target) -> None:
    text, layouts = everything(target)
    assert libclang_layouts(text, target) == as_clang_says(layouts)


@targets
def test_the_generated_header_has_the_layout_that_the_engine_computes(target: Target) -> None:
    spec = load(SPEC)
    header = next(text for path, text in c_backend.render(spec).items() if path.startswith("native/include/"))
    expected = {spec.prefix + name: layout for name, layout in as_clang_says(compute(spec, target)).items()}
    assert libclang_layouts(header, target) == expected


@pytest.mark.parametrize(("flag", "name"), [("-m64", "x86_64-linux"), ("-m32", "i686-linux")])
def test_gcc_lays_every_struct_out_the_same(flag: str, name: str, tmp_path: Path) -> None:
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("gcc is missing: apt-get install gcc")
    machine = subprocess.run([gcc, "-dumpmachine"], capture_output=True, text=True, check=True).stdout
    if not machine.startswith("x86_64"):
        pytest.skip(f"this gcc is for {machine.strip()}; the test is for x86-64")
    compile_assertions([gcc, flag], TARGETS[name], tmp_path)


@targets
def test_zig_cc_lays_every_struct_out_the_same(target: Target, tmp_path: Path) -> None:
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("zig is missing: pip install ziglang")
    compile_assertions([sys.executable, "-m", "ziglang", "cc", "-target", target.zig], target, tmp_path)


def compile_assertions(compiler: list[str], target: Target, folder: Path) -> None:
    """Let a compiler check the engine's numbers, and see that it would find a wrong one."""
    text, layouts = everything(target)
    common = ["-std=c11", "-nostdinc", "-isystem", str(INCLUDE), "-Werror", "-c", "-o", str(folder / "right.o")]
    right, wrong = folder / "right.c", folder / "wrong.c"
    right.write_text(text + assertions(layouts))
    done = subprocess.run([*compiler, *common, str(right)], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.returncode == 0
    last = layouts["params"].fields[-1]
    moved = layouts["params"]._replace(fields=(*layouts["params"].fields[:-1], last._replace(offset=last.offset + 1)))
    wrong.write_text(text + assertions(layouts | {"params": moved}))
    done = subprocess.run([*compiler, *common, str(wrong)], capture_output=True, text=True)
    assert done.returncode != 0
    assert f"offset of params.{last.name}" in done.stderr
