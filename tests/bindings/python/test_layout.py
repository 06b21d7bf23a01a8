"""Every view of the layout agrees: the spec's arithmetic, the C compiler's table in the library, cffi in both modes."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from specbind.layout.engine import compute
from specbind.layout.targets import TARGETS
from specbind.spec.load import load

ROOT = Path(__file__).resolve().parents[3]
SPEC = load(ROOT / "abi" / "llama_speculative.yaml")
HOST = TARGETS["x86_64-linux"]  # every 64-bit target that runs tests lays these structs out alike

View = dict[str, tuple[int, dict[str, tuple[int, int]]]]
"""struct -> (size, field -> (offset, size))"""


def cffi_view(ffi: Any) -> View:
    return {
        s.name: (
            ffi.sizeof(SPEC.prefix + s.name),
            {name: (f.offset, ffi.sizeof(f.type)) for name, f in ffi.typeof(SPEC.prefix + s.name).fields},
        )
        for s in SPEC.structs
    }


@pytest.fixture(scope="module")
def spec_view() -> View:
    return {
        name: (layout.size, {f.name: (f.offset, f.size) for f in layout.fields}) for name, layout in compute(SPEC, HOST).items()
    }


@pytest.fixture(scope="module")
def api(build: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The binding compiled against the header."""
    from llama_speculative._build_api import build as compile_api

    out = tmp_path_factory.mktemp("api")
    path = compile_api(str(ROOT / "native" / "include"), str(build.lib_dir), str(out))
    found = importlib.util.spec_from_file_location("_llama_speculative_api", path)
    assert found and found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def table(library: Any) -> dict[tuple[int, str, str], Any]:
    return dict(library._rows())


def test_the_librarys_table_is_the_specs_layout(binding: Any, spec_view: View) -> None:
    rows = table(binding.Library())
    kinds = binding.IdentityKind
    seen: View = {
        owner: (
            row.size,
            {item: (r.offset, r.size) for (kind, of, item), r in rows.items() if kind == kinds.FIELD and of == owner},
        )
        for (kind, owner, _), row in rows.items()
        if kind == kinds.STRUCT
    }
    assert seen == spec_view


def test_cffi_in_abi_mode_sees_the_specs_layout(binding: Any, spec_view: View) -> None:
    assert cffi_view(binding.Library().ffi) == spec_view


def test_cffi_in_api_mode_sees_the_specs_layout(api: Any, spec_view: View) -> None:
    assert cffi_view(api.ffi) == spec_view


def test_the_binding_works_in_api_mode(binding: Any, api: Any, models: dict[str, Path]) -> None:
    library = binding.Library(module=api)
    with binding.Session(models["target-llama"], library=library, n_ctx=256, n_threads=1) as session:
        assert [p.token for p in session.generate([10, 11], n_predict=3)] != []


def test_every_constant_is_the_specs(binding: Any) -> None:
    rows = table(binding.Library())
    expected = {("", c.name): c.value for c in SPEC.constants} | {(e.name, v.name): v.value for e in SPEC.enums for v in e.values}
    assert {(o, i): r.value for (kind, o, i), r in rows.items() if kind == binding.IdentityKind.CONSTANT} == expected


def test_every_function_has_its_row(binding: Any) -> None:
    rows = table(binding.Library())
    assert [i for (kind, _, i) in rows if kind == binding.IdentityKind.FUNCTION] == [f.name for f in SPEC.functions]


def test_a_moved_field_of_the_same_total_size_is_named(binding: Any, tmp_path: Path) -> None:
    """A library whose `params` has two fields in each other's place."""
    header = (ROOT / "native" / "include" / "llama_speculative.h").read_text(encoding="utf-8")
    (tmp_path / "llama_speculative.h").write_text(swapped(header, "n_draft_max", "p_min"), encoding="utf-8")
    table_c = ROOT / "native" / "generated" / "identity_table.c"
    entry = tmp_path / "entry.c"
    entry.write_text(
        '#include "identity_table.h"\n'
        "int32_t llama_speculative_identity_get(size_t i, llama_speculative_identity_entry * out) {\n"
        "    if (i >= spb_identity_table_size) { return 3; }\n"
        "    *out = spb_identity_table[i];\n"
        "    return 0;\n"
        "}\n"
    )
    library = tmp_path / "libdoctored.so"
    generated = ROOT / "native" / "generated"
    subprocess.run(
        ["cc", "-std=c99", "-DLLAMA_SPECULATIVE_NO_LAYOUT_CHECKS", "-shared", "-fPIC", f"-I{tmp_path}", f"-I{generated}", table_c, entry,
         "-o", library],
        check=True,
    )  # fmt: skip
    with pytest.raises(binding.AbiMismatchError) as caught:
        binding.Library(library)
    assert "params.n_draft_max: offset 4 and size 4 here, offset 12 and size 4 in the library" in str(caught.value)
    assert "params.p_min: offset 12 and size 4 here, offset 4 and size 4 in the library" in str(caught.value)
    assert "struct params" not in str(caught.value)


def swapped(text: str, a: str, b: str) -> str:
    """`text` with the names of two fields exchanged, with their types."""
    first, second = (re.search(rf"^ *\w+ +{name};.*$", text, re.MULTILINE) for name in (a, b))
    assert first and second
    return text.replace(first[0], "@").replace(second[0], first[0]).replace("@", second[0])


def test_a_library_that_is_not_there_is_an_error_with_the_places(binding: Any, tmp_path: Path) -> None:
    with pytest.raises(binding.LibraryNotFoundError, match=r"nowhere\.so.*\n.*LLAMA_SPECULATIVE_LIB"):
        binding.Library(tmp_path / "nowhere.so")


def test_a_same_named_library_loaded_first_does_no_harm(binding: Any, build: Any, tmp_path: Path) -> None:
    """Another library with the same names, loaded for everyone to see, in a process of its own."""
    import sys

    source = tmp_path / "other.c"
    source.write_text("unsigned llama_speculative_abi_version(void) { return 99; }\n")
    other = tmp_path / "libother.so"
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", other], check=True)
    program = (
        f"import ctypes, sys; ctypes.CDLL({str(other)!r}, ctypes.RTLD_GLOBAL); sys.path[:0] = {sys.path!r}; "
        f"from llama_speculative import Library; print(Library({str(build.library)!r}).function('abi_version')())"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "256\n"
