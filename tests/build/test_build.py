"""What goes wrong around a build ends in one message, a non-zero exit code and nothing half written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from specbind.native import NativeError, build, find_library
from specbind.native.pin import Pin, Sdist, load_pin
from specbind.native.progress import Silent
from specbind.native.source import pinned_tree, unpack, user_tree

ROOT = Path(__file__).resolve().parents[2]
PIN = load_pin(ROOT / "abi" / "llama_cpp.yaml")


def specbind(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from specbind.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **env}, check=False)


def test_without_network_the_message_says_what_to_do_and_nothing_is_left(tmp_path: Path) -> None:
    result = specbind("build", SPECBIND_CACHE=str(tmp_path), PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))
    assert result.returncode == 1
    assert "Cannot get llama.cpp 0c1e57098" in result.stderr and "--llama DIR" in result.stderr
    assert "Traceback" not in result.stderr
    assert [p.name for p in (tmp_path / "downloads").iterdir()] == []
    assert not (tmp_path / "source" / PIN.short_commit).exists()


def test_an_archive_that_is_not_the_pinned_one_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "downloads" / PIN.sdist.file
    archive.parent.mkdir()
    archive.write_bytes(b"cut short")
    with pytest.raises(NativeError, match=rf"9 bytes with sha256 .*expected {PIN.sdist.size} bytes with sha256 {PIN.sdist.sha256}"):
        pinned_tree(PIN, tmp_path, Silent())
    assert not (tmp_path / "source" / PIN.short_commit).exists()


def test_an_interrupted_unpacking_leaves_nothing(tmp_path: Path) -> None:
    archive = tmp_path / "tree.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for name in ("a", "b"):
            (tmp_path / name).write_text(name)
            tar.add(tmp_path / name, f"root/tree/{name}")

    class Interrupts(Silent):
        def phase(self, title: str) -> Any:
            from contextlib import contextmanager

            @contextmanager
            def steps() -> Any:
                def advance(done: int, total: int) -> None:
                    if done == 2:
                        raise KeyboardInterrupt

                yield advance

            return steps()

    target = tmp_path / "out" / "tree"
    with pytest.raises(KeyboardInterrupt):
        unpack(archive, "root/tree", target, Interrupts())
    assert list(target.parent.iterdir()) == []
    unpack(archive, "root/tree", target, Silent())
    assert sorted(p.name for p in target.iterdir()) == ["a", "b"]


def test_a_folder_that_is_no_llama_tree_is_refused_with_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(NativeError, match=r"is not a llama.cpp source tree.*CMakeLists.txt is missing"):
        user_tree(tmp_path)
    with pytest.raises(NativeError, match="there is no such folder"):
        user_tree(tmp_path / "nowhere")


def test_a_folder_above_the_tree_is_recognised(tmp_path: Path) -> None:
    inner = tmp_path / "vendor" / "llama.cpp"
    inner.mkdir(parents=True)
    (inner / "CMakeLists.txt").touch()
    with pytest.raises(NativeError, match=re.escape(f"Did you mean --llama {inner}?")):
        user_tree(tmp_path)


def test_a_missing_compiler_is_named_with_the_way_to_install_it() -> None:
    result = specbind("build", CXX="no-such-compiler")
    assert result.returncode == 1
    assert result.stderr.startswith("specbind build: CXX is set to `no-such-compiler`, and there is no such program")
    result = specbind("build", PATH="/nowhere")
    assert result.returncode == 1
    assert "compiler found" in result.stderr and "apt install g++" in result.stderr


def test_an_unknown_backend_is_refused_with_those_there_are() -> None:
    with pytest.raises(NativeError, match=r"--backend abacus: there is no such backend. There are: cpu"):
        build(backend="abacus")


def test_a_library_that_the_environment_names_and_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLAMA_SPECULATIVE_LIB", "/nowhere/lib.so")
    with pytest.raises(NativeError, match=r"LLAMA_SPECULATIVE_LIB is /nowhere/lib\.so, and there is no such file"):
        find_library()


def test_a_second_build_compiles_nothing(build: Any) -> None:
    library = build.library.stat()
    result = specbind("build")
    assert result.returncode == 0
    assert result.stdout.strip() == str(build.library)
    assert build.library.stat().st_mtime_ns == library.st_mtime_ns


def test_the_library_exports_exactly_the_abi(build: Any) -> None:
    from specbind.spec.load import load

    spec = load(ROOT / "abi" / "llama_speculative.yaml")
    listed = subprocess.run(["nm", "-D", "--defined-only", build.library], capture_output=True, text=True, check=True).stdout
    symbols = {line.split()[2].split("@")[0] for line in listed.splitlines() if line.split()[1] != "A"}
    assert symbols == {spec.prefix + f.name for f in spec.functions}


def test_the_library_needs_only_llama_cpp_and_the_runtimes(build: Any) -> None:
    said = subprocess.run(["readelf", "-d", build.library], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(lib[a-z+-]+)", said))
    assert needed <= {"libllama", "libggml", "libggml-base", "libstdc++", "libgcc", "libc", "libm"}, needed
    assert {"libllama", "libggml-base"} <= needed


def test_the_library_is_small(build: Any, tmp_path: Path) -> None:
    subprocess.run(["strip", "-o", tmp_path / "stripped", build.library], check=True)
    assert (tmp_path / "stripped").stat().st_size < 500_000


def test_the_default_build_has_no_instructions_beyond_x86_64_v3(build: Any) -> None:
    import platform

    if platform.machine() != "x86_64":
        pytest.skip("the check reads x86-64 code; on other machines the compiler's baseline is used")
    code = subprocess.run(["objdump", "-d", build.lib_dir / "libggml-cpu.so"], capture_output=True, text=True, check=True).stdout
    assert "%ymm" in code
    assert not re.search(r"%zmm|tdpb", code), "AVX-512 or AMX instructions in a portable build"


def test_a_pin_names_its_commit() -> None:
    assert PIN.short_commit == "0c1e57098"
    assert Pin("1", "abc", Sdist("p", "1", "f", 1, "0", "x")).short_commit == "abc"
