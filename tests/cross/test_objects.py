"""The shim's own sources become objects for Windows, macOS and Android, and define exactly what the export lists name."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from specbind.native import BuildResult
from specbind.spec.load import load

lief = pytest.importorskip("lief", reason="nothing here reads objects of other systems: pip install lief")
ziglang = pytest.importorskip("ziglang", reason="no compiler for other systems: pip install ziglang")

ROOT = Path(__file__).resolve().parents[2]
NATIVE = ROOT / "native"
GENERATED = NATIVE / "generated"
ZIG_HEADERS = Path(ziglang.__file__).parent / "lib" / "libc" / "include"
TARGETS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("targets.yaml").read_text(encoding="utf-8"))["targets"]
SOURCES = sorted([*NATIVE.glob("src/*.cpp"), *GENERATED.glob("*.cpp"), *GENERATED.glob("*.c")])
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-nullability-completeness"]


def compiled(target: dict[str, Any], source: Path, llama: Path, out: Path) -> Path:
    """The object of a source, compiled as native/cmake/shim.cmake does it."""
    own = [f"-I{NATIVE / name}" for name in ("include", "generated", "src")]
    theirs = [f"-isystem{llama / name}" for name in ("include", "ggml/include", "common", "vendor", "src")]
    libc = [f"-isystem{ZIG_HEADERS / name}" for name in target.get("headers", ())]
    language = ["cc", "-std=c99"] if source.suffix == ".c" else ["c++", "-std=c++17"]
    defines = ["-DLLAMA_SPECULATIVE_BUILD", *(f'-DSPB_{name}="0"' for name in ("LLAMA_COMMIT", "LLAMA_VERSION", "BUILD_ID"))]
    object_ = out / f"{source.stem}.o"
    command = [sys.executable, "-m", "ziglang", language[0], *target["arguments"], language[1], "-O0", "-g0", *WARNINGS, *own, *theirs, *libc, *defines]
    ran = subprocess.run([*command, "-fvisibility=hidden", "-c", str(source), "-o", str(object_)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{source.name}: {ran.stderr[-3000:]}"
    return object_


def defined(path: Path) -> set[str]:
    """Names of the ABI that an object defines, as C spells them."""
    parsed = lief.parse(str(path))
    assert parsed is not None, path
    if isinstance(parsed, lief.COFF.Binary):
        names = {s.name for s in parsed.symbols if s.section is not None and s.storage_class == lief.COFF.Symbol.STORAGE_CLASS.EXTERNAL}
    elif isinstance(parsed, lief.MachO.Binary):
        names = {s.name.removeprefix("_") for s in parsed.symbols if s.numberof_sections > 0}
    else:
        names = {s.name for s in parsed.symbols if s.shndx != 0 and s.binding == lief.ELF.Symbol.BINDING.GLOBAL}
    return {str(name) for name in names if str(name).startswith("llama_speculative_")}


def listed(name: str) -> set[str]:
    """Names in an export list."""
    return set(re.findall(r"\bllama_speculative_\w+", (GENERATED / name).read_text(encoding="utf-8").replace("_llama", " llama")))


@pytest.mark.parametrize("name", TARGETS)
def test_the_sources_compile_and_define_what_the_export_list_names(name: str, build: BuildResult, tmp_path: Path) -> None:
    target = TARGETS[name]
    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(lambda source: compiled(target, source, build.llama_dir, tmp_path), SOURCES))
    symbols = set().union(*map(defined, objects))
    functions = {f"llama_speculative_{function.name}" for function in load(ROOT / "abi" / "llama_speculative.yaml").functions}
    assert symbols == functions
    assert listed(target["exports"]) == functions


def test_windows_h_is_seen_by_one_file() -> None:
    """It makes macros of names that are statuses of ours, such as ERROR_BUSY."""
    users = [path.name for path in NATIVE.rglob("*") if path.suffix in (".h", ".c", ".cpp") and "windows.h>" in path.read_text(encoding="utf-8")]
    assert users == ["library_folder.cpp"]
