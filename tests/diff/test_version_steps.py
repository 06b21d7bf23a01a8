"""Which version changes demand, and that SONAME and library version follow it."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specbind.diff.change import found
from specbind.diff.finding import Waiver
from specbind.diff.versions import required
from specbind.emit.core import backends
from specbind.spec.load import load
from specbind.spec.version import series

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTED = found("documentation-changed", "function f", "")
ADDED = found("function-added", "function f", "")
BROKEN = found("parameters-swapped", "function f(a, b)", "")
WAIVED = replace(BROKEN, waiver=Waiver("parameters-swapped", "function f(a, b)", "why", "who", "2999-01-01"))


@pytest.mark.parametrize(
    ("released", "findings", "lowest"),
    [
        ("1.4.2", [], "1.4.2"),
        ("1.4.2", [DOCUMENTED], "1.4.3"),
        ("1.4.2", [DOCUMENTED, ADDED], "1.5.0"),
        ("1.4.2", [ADDED, BROKEN, DOCUMENTED], "2.0.0"),
        ("1.4.2", [ADDED, WAIVED], "1.5.0"),
        ("0.4.2", [DOCUMENTED], "0.4.3"),
        ("0.4.2", [ADDED], "0.4.3"),
        ("0.4.2", [BROKEN], "0.5.0"),
    ],
)
def test_the_lowest_version_that_may_follow(released: str, findings: list[Any], lowest: str) -> None:
    assert required(released, findings) == lowest


def test_a_break_changes_the_series_and_nothing_else_does() -> None:
    for released in ("1.4.2", "0.4.2"):
        assert series(required(released, [BROKEN])) != series(released)
        assert series(required(released, [ADDED])) == series(released)


@pytest.mark.parametrize(("version", "soname"), [("1.4.2", "1"), ("0.3.1", "0.3")])
def test_soname_symbol_version_and_library_version_follow_the_spec(version: str, soname: str) -> None:
    spec = replace(load(ROOT / "abi" / "llama_speculative.yaml"), version=version)
    files = backends()["c"].render(spec)
    cmake = files["native/generated/version.cmake"]
    assert f"set(SPECBIND_VERSION {version})\n" in cmake and f"set(SPECBIND_SOVERSION {soname})\n" in cmake
    assert f"LLAMA_SPECULATIVE_{soname} {{" in files["native/generated/exports.map"]


def test_the_built_library_has_the_soname_of_its_version(build: Any) -> None:
    readelf = shutil.which("readelf")
    if readelf is None:
        pytest.skip("readelf is missing: `apt install binutils`")
    version = load(ROOT / "abi" / "llama_speculative.yaml").version
    told = subprocess.run([readelf, "-d", build.library], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"SONAME.*\[(.*)\]", told) == [f"libllama_speculative.so.{series(version)}"]
    assert build.library.resolve().name == f"libllama_speculative.so.{version}"
