"""Another symbol prefix throughout: built, and used beside the standard library in one process."""

from __future__ import annotations

import ctypes
import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from specbind import native
from specbind.cli import main
from specbind.emit.c.naming import with_prefix
from specbind.emit.core import backends
from specbind.harness.oracle.cycle import CYCLE, NEXT, VOCABULARY, run
from specbind.spec.load import load

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "mine_spec_"
STANDARD = re.compile(r"llama[_-]?speculative(?!\.yaml)", re.IGNORECASE)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prefixed")
    done = CliRunner().invoke(main, ["generate", "--prefix", PREFIX, "--out", str(folder)])
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture(scope="module")
def library(build: Any, generated: Path) -> Path:
    """The shim under the other prefix."""
    made = native.build(generated=generated / "native", library="mine_spec", build_dir=generated / "build")
    return Path(made.library)


@pytest.fixture(scope="module")
def mine(library: Path, generated: Path) -> Iterator[Any]:
    """The Python binding under the other prefix, which finds its library by its own environment variable."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINE_SPEC_LIB", str(library))
        patch.syspath_prepend(str(generated / "bindings_out" / "python" / "src"))
        yield importlib.import_module("mine_spec")
    for name in [name for name in sys.modules if name.split(".")[0] == "mine_spec"]:
        del sys.modules[name]


@pytest.mark.parametrize("language", sorted(backends()))
def test_no_file_of_a_language_holds_the_standard_name(generated: Path, language: str) -> None:
    spec = with_prefix(load(ROOT / "abi" / "llama_speculative.yaml"), PREFIX)
    paths = [generated / path for path in backends()[language].render(spec)]
    assert any("mine_spec" in path.read_text().replace("MineSpec", "mine_spec") for path in paths)
    for path in paths:
        assert not STANDARD.search(str(path.relative_to(generated))), path
        assert not STANDARD.search(path.read_text()), path


def test_the_library_exports_the_prefix_and_nothing_else(library: Path, generated: Path) -> None:
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("nm is missing: apt install binutils")
    lines = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()
    exported = {line.split()[-1].split("@")[0] for line in lines if line.split()[1] != "A"}  # A: the name of the version
    declared = set(re.findall(rf"^ *MINE_SPEC_API .*\b({PREFIX}\w+)\(", (generated / "native" / "include" / "mine_spec.h").read_text(), re.MULTILINE))
    assert exported == declared
    assert len(exported) > 40


def test_both_libraries_generate_in_one_process(binding: Any, mine: Any, build: Any, library: Path, models: dict[str, Path]) -> None:
    """Alternating, token by token: neither answers for the other, and both give the oracle's text and counts."""
    prompt = run(NEXT, CYCLE[0], 24)
    expected = VOCABULARY.decode(run(NEXT, NEXT[prompt[-1]], 48)).decode()
    options: dict[str, Any] = {
        "model_draft": str(models["draft-llama"]), "strategies": "draft-simple", "n_draft_max": 8, "n_ctx": 256, "n_batch": 64,
        "n_ubatch": 64, "n_threads": 1,
    }  # fmt: skip
    with binding.Session(models["target-llama"], **options) as one, mine.Session(models["target-llama"], **options) as other:
        texts = {"standard": "", "mine": ""}
        streams = {"standard": one.generate(prompt, n_predict=48), "mine": other.generate(prompt, n_predict=48)}
        while streams:
            for name in list(streams):
                piece = next(streams[name], None)
                if piece is None:
                    del streams[name]
                else:
                    texts[name] += piece.text
        counts = [(s.n_drafted, s.n_accepted) for s in (one.stats(0), other.stats(0))]
    assert texts == {"standard": expected, "mine": expected}
    assert counts[0] == counts[1]
    assert 0 < counts[0][1] < counts[0][0]
    assert type(one).__module__.split(".")[0] != type(other).__module__.split(".")[0]
    loaded = [ctypes.CDLL(str(path)) for path in (build.library, library)]
    for name, where in (("llama_speculative_abi_version", [True, False]), (f"{PREFIX}abi_version", [False, True])):
        assert [hasattr(each, name) for each in loaded] == where


def test_an_error_of_one_library_is_not_seen_by_the_other(binding: Any, mine: Any) -> None:
    with pytest.raises(mine.SpeculativeError, match="mine_spec_session_open: ") as raised:
        mine.Session("nowhere.gguf")
    assert not isinstance(raised.value, binding.SpeculativeError)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prefix", "mine_spec_"], "--prefix needs --out"),
        (["--prefix", "Mine", "--out", "x"], "expected lower-case letters, digits and single underscores, ending in one"),
        (["--prefix", "mine__", "--out", "x"], "such as my_spec_"),
    ],
)
def test_a_prefix_that_cannot_be_is_refused(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(main, ["generate", *arguments])
    assert done.exit_code == 2
    assert message in done.output
    assert not Path("x").exists()
