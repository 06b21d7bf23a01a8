"""ci/build-matrix.yml and its rows: the schema of workflows, the script that reads the rows, and CMake's own word on the options."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from specbind.native import BuildResult
from specbind.native.tools import which

ROOT = Path(__file__).resolve().parents[2]
CI = ROOT / "ci"
ROWS: dict[str, Any] = yaml.safe_load((CI / "matrix.yaml").read_text(encoding="utf-8"))
TEXT = (CI / "build-matrix.yml").read_text(encoding="utf-8")
WORKFLOW: dict[str, Any] = yaml.safe_load(TEXT)
COMMIT: str = yaml.safe_load((ROOT / "abi" / "llama_cpp.yaml").read_text(encoding="utf-8"))["commit"]


@pytest.mark.parametrize(
    ("schema", "file"),
    [("workflows", "build-matrix.yml"), ("workflows", "workflow-example.yml"), ("actions", "action.yml")],
)
def test_it_keeps_to_the_schema_of_its_host(schema: str, file: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.github-{schema}", str(CI / file)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_the_targets() -> None:
    assert [row["name"] for row in ROWS["targets"]] == [
        "linux-x86_64", "linux-arm64", "macos-arm64", "windows-msvc-x86_64", "windows-mingw-x86_64", "android-arm64",
    ]  # fmt: skip
    assert [each["name"] for each in ROWS["slices"]] == ["macos", "ios", "ios-simulator"]


def test_the_script_gives_the_steps_their_rows() -> None:
    step = next(step for step in WORKFLOW["jobs"]["rows"]["steps"] if step.get("id") == "read")
    assert "python3 ci/matrix.py" in step["run"]
    said = subprocess.run([sys.executable, "ci/matrix.py"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    outputs = dict(line.split("=", 1) for line in said.splitlines())
    assert set(outputs) == set(WORKFLOW["jobs"]["rows"]["outputs"])
    assert json.loads(outputs["targets"]) == ROWS["targets"]
    assert outputs["commit"] == COMMIT
    slices = subprocess.run([sys.executable, "ci/matrix.py", "--slices"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [line.split("\t") for line in slices.splitlines()] == [[each["name"], each["cmake"]] for each in ROWS["slices"]]


def test_every_row_has_what_the_steps_read() -> None:
    used = set(re.findall(r"matrix\.(\w+)", TEXT.replace("ci/matrix.", "")))
    assert {key for row in ROWS["targets"] for key in row} == used
    assert all(set(row) == used for row in ROWS["targets"])
    assert set(re.findall(r"needs\.rows\.outputs\.(\w+)", TEXT)) == set(WORKFLOW["jobs"]["rows"]["outputs"])


def test_every_option_is_one_that_somebody_reads(build: BuildResult) -> None:
    """CMake ignores a name that nobody reads."""
    files = [*(ROOT / "native").rglob("*.cmake"), ROOT / "native" / "CMakeLists.txt", *build.llama_dir.rglob("CMakeLists.txt")]
    known = "\n".join(path.read_text(encoding="utf-8") for path in files)
    ndk = {"ANDROID_ABI", "ANDROID_PLATFORM", "ANDROID_STL"}  # of the NDK's toolchain file
    text = TEXT + "\n".join(row["cmake"] for row in (*ROWS["targets"], *ROWS["slices"]))
    options = set(re.findall(r"-D(\w+)=", text))
    assert {name for name in options - ndk if not name.startswith("CMAKE_") and not re.search(rf"\b{name}\b", known)} == set()


def test_the_library_is_named_as_the_build_names_it() -> None:
    """CMake puts `lib` in front except with MSVC."""
    endings = {"linux": "so", "android": "so", "macos": "dylib", "windows": "dll"}
    for row in ROWS["targets"]:
        prefix = "" if "msvc" in row["name"] else "lib"
        assert row["library"] == f"{prefix}llama_speculative.{endings[row['name'].split('-')[0]]}", row["name"]


def test_cmake_takes_the_command_of_the_workflow(build: BuildResult, tmp_path: Path) -> None:
    """As the step has it, with the row of Linux, in a folder like that of a runner."""
    (tmp_path / "native").symlink_to(ROOT / "native")
    (tmp_path / "llama.cpp").symlink_to(build.llama_dir)
    step = next(step for step in WORKFLOW["jobs"]["build"]["steps"] if step.get("name") == "Configure")
    row = ROWS["targets"][0]
    command = step["run"].replace("${{ matrix.cmake }}", row["cmake"]).replace("${{ needs.rows.outputs.commit }}", COMMIT)
    assert "${{" not in command
    tools = f"-DCMAKE_MAKE_PROGRAM={which('ninja')}"
    ran = subprocess.run(f"{which('cmake')} {command.removeprefix('cmake ')} {tools}", shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    build_file = (tmp_path / "build" / "build.ninja").read_text(encoding="utf-8")
    assert f"bin/{row['library']}" in build_file
