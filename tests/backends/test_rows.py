"""ci/backends.yaml itself: what each row says of a machine, and what `doctor` and `build` make of it."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from specbind import native
from specbind.cli import main
from specbind.harness.backends import all_backends
from specbind.native.backends import Backend, load_backends
from specbind.native.errors import NativeError
from specbind.native.tools import which

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "ci" / "backends.yaml"
BACKENDS = all_backends()


def test_the_rows() -> None:
    assert list(BACKENDS) == ["cpu", "cpu-variants", "blas", "rpc", "vulkan", "cuda", "metal", "hip", "sycl", "opencl"]


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=list(BACKENDS))
def test_a_row_says_how_it_is_built_found_and_installed(backend: Backend) -> None:
    assert backend.options["GGML_NATIVE"] == "OFF"
    if backend.needs:
        assert backend.remedy
    if backend.device:
        assert backend.servers or backend.driver


@pytest.mark.parametrize("backend", [b for b in BACKENDS.values() if b.needs], ids=[b.name for b in BACKENDS.values() if b.needs])
def test_a_backend_without_what_it_needs_is_refused_with_the_remedy(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    absent = replace(backend, needs=("no-such-program",))
    monkeypatch.setattr(importlib.import_module("specbind.native.build"), "all_backends", lambda _: {backend.name: absent})
    with pytest.raises(NativeError) as refused:
        native.build(backend=backend.name)
    assert str(refused.value) == f"--backend {backend.name}: no-such-program is missing here. To install it: {backend.remedy}."


def test_options_are_those_of_the_machine() -> None:
    on_x86, on_arm = load_backends(FILE, "x86_64")["cpu"].options, load_backends(FILE, "aarch64")["cpu"].options
    assert on_x86["GGML_AVX2"] == "ON"
    assert "GGML_AVX2" not in on_arm
    assert on_x86["GGML_AVX512"] == "OFF"


def test_every_option_is_one_of_llama_cpp(build: native.BuildResult) -> None:
    """A name that CMake does not know would be ignored in silence."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in build.llama_dir.glob("**/CMakeLists.txt"))
    raw = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    rows = [raw["all"], *raw["backends"].values()]
    named = {name for row in rows for key, options in row.items() if key.startswith("cmake") for name in options}
    unknown = {name for name in named if not name.startswith(("CMAKE_", "BUILD_")) and f"{name} " not in text and f"{name}\n" not in text}
    assert unknown == set()


def test_an_unknown_column_is_refused(tmp_path: Path) -> None:
    raw = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    raw["backends"]["cpu"]["colour"] = "blue"
    file = tmp_path / "backends.yaml"
    file.write_text(yaml.safe_dump(raw), encoding="utf-8")
    with pytest.raises(NativeError, match=r"ci/backends.yaml, cpu: there is no column colour\."):
        load_backends(file)


def test_doctor_says_what_can_be_built() -> None:
    said = json.loads(CliRunner().invoke(main, ["doctor", "--format", "json"]).stdout)
    rows = {row["name"]: row for row in said["backends"]}
    assert list(rows) == list(BACKENDS)
    assert rows["cpu"]["missing"] == []
    assert {row["name"] for row in said["backends"] if row["required"]} == {"cpu", "cpu-variants", "blas", "rpc"}
    for name, row in rows.items():
        assert row["missing"] == list(BACKENDS[name].missing())
    assert "xcrun" in rows["metal"]["missing"] or BACKENDS["metal"].missing() == ()


def test_the_variants_that_trap_are_not_shipped(build: native.BuildResult) -> None:
    shipped = {path.name for path in native.build(backend="cpu-variants", latest=False).lib_dir.glob("libggml-cpu-*")}
    assert "libggml-cpu-haswell.so" in shipped or "libggml-cpu-armv8.0_1.so" in shipped
    assert "libggml-cpu-sapphirerapids.so" not in shipped


# what CMake says where the SDK is missing: after llama.cpp has taken the option
SDK = {
    "vulkan": r"Could NOT find Vulkan",
    "cuda": r"CUDA Toolkit not found",
    "metal": r"Could not find FOUNDATION_LIBRARY",
    "hip": r"HIP|hip",
    "sycl": r"The CMAKE_C_COMPILER:\s+icx\s+is not a full path and was not found",
    "opencl": r"Could NOT find OpenCL",
}


@pytest.mark.parametrize("name", [name for name, backend in BACKENDS.items() if not backend.required])
def test_cmake_gets_to_the_sdk_or_to_the_end(name: str, build: native.BuildResult, tmp_path: Path) -> None:
    """The options of a backend that cannot run here lead where they should."""
    options = [f"-D{key}={value}" for key, value in BACKENDS[name].options.items()]
    command = [which("cmake"), "-S", build.llama_dir, "-B", tmp_path, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={which('ninja')}", *options]
    ran = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if BACKENDS[name].missing():
        assert ran.returncode == 1
        assert re.search(SDK[name], ran.stderr), ran.stderr
    else:
        assert ran.returncode == 0, ran.stderr
