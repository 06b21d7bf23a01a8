"""All of llama.h: every symbol of the built library, and the layout that a C compiler gives its structs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from specbind.cheader import Imported, read_header
from specbind.layout.engine import compute
from specbind.layout.targets import TARGETS, host
from specbind.spec import model as m

pytest.importorskip("clang.cindex", reason="libclang is missing: pip install libclang")

# Functions that only one of the two has, with the reason; none with the pinned llama.cpp.
DECLARED_ONLY: dict[str, str] = {}
EXPORTED_ONLY: dict[str, str] = {}


@pytest.fixture(scope="module")
def imported(build: Any) -> Imported:
    header = build.llama_dir / "include" / "llama.h"
    return read_header(header, include=[build.llama_dir / "ggml" / "include"])


@pytest.fixture(scope="module")
def spec(imported: Imported) -> m.Spec:
    return imported.spec


def test_its_functions_are_the_symbols_of_the_library(imported: Imported, build: Any) -> None:
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("nm is missing: apt install binutils")
    library = build.lib_dir / "libllama.so"
    lines = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()
    exported = {line.split()[-1].split("@")[0] for line in lines if line.split()[-1].startswith("llama_")}
    declared = {imported.spec.prefix + function.name for function in imported.spec.functions}
    assert len(declared) == len(imported.spec.functions) > 200
    assert imported.left_out == ()
    assert declared - exported == set(DECLARED_ONLY)
    assert exported - declared == set(EXPORTED_ONLY)


def test_every_struct_is_laid_out_as_the_c_compiler_does(spec: m.Spec, build: Any, tmp_path: Path) -> None:
    cc, target = shutil.which("cc"), host()
    if cc is None or target is None:
        pytest.skip("a C compiler is missing: apt install gcc")
    names = {struct.name for struct in spec.structs}
    assert {"model_params", "context_params", "batch", "model_kv_override", "token_data_array", "sampler_i"} <= names
    layouts = compute(spec, target)
    checks = []
    for struct in spec.structs:
        c, each = f"struct llama_{struct.name}", layouts[struct.name]
        checks += [f"sizeof({c}) == {each.size}", f"_Alignof({c}) == {each.align}"]
        for field in each.fields:
            for name in field.name.split("/"):  # every member of a union
                checks.append(f"offsetof({c}, {name}) == {field.offset}")
            if "/" not in field.name:
                checks.append(f"sizeof((({c} *)0)->{field.name}) == {field.size}")
    assert len(checks) > 300

    def compiles(lines: list[str]) -> subprocess.CompletedProcess[str]:
        text = '#include "llama.h"\n' + "".join(f"_Static_assert({line}, \"{line.split('==')[0]}\");\n" for line in lines)
        (tmp_path / "check.c").write_text(text)
        folders = [f"-I{build.llama_dir / 'include'}", f"-I{build.llama_dir / 'ggml' / 'include'}"]
        return subprocess.run([cc, "-std=c11", "-c", "check.c", "-o", "check.o", *folders], cwd=tmp_path, capture_output=True, text=True)

    assert compiles(checks).stderr == ""
    assert "offsetof(struct llama_batch, embd)" in compiles([*checks, "offsetof(struct llama_batch, embd) == 12"]).stderr


def test_structs_that_cross_by_value_never_grow_and_parameters_are_whole(spec: m.Spec) -> None:
    assert not any(struct.growable for struct in spec.structs)
    batch = spec.function("decode").param("batch")
    assert (batch.type, batch.passing) == (m.Ref("struct", "batch"), m.Passing.VALUE)
    assert [p.name for p in spec.function("sampler_init_penalties").params][:2] == ["n_vocab", "penalty_last_n"]
    override = spec.struct("model_kv_override")
    assert [(f.name.split("/")[0], f.type.name.split(" ")[0]) for f in override.fields] == [
        ("tag", "model_kv_override_type"), ("key", "char[128]"), ("val_i64", "union"),
    ]  # fmt: skip
    assert spec.handle("model").release == "model_free"
    assert spec.handle("context").release == "free"
    deprecated = {function.name: function.deprecated for function in spec.functions if function.deprecated is not None}
    assert deprecated["load_model_from_file"] == "use llama_model_load_from_file instead"


def test_pointers_have_the_width_of_each_target(spec: m.Spec) -> None:
    """struct llama_batch: an int32_t and six pointers."""
    sizes = {target.name: compute(spec, target)["batch"].size for target in TARGETS.values()}
    assert sizes == {name: 8 + 6 * 8 if target.pointer == 8 else 4 + 6 * 4 for name, target in TARGETS.items()}
