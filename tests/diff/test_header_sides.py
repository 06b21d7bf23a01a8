"""C headers as sides: our own, against the spec that it came from, and llama.h of two releases of a Python package."""

from __future__ import annotations

import re
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from specbind.cache import cache_dir
from specbind.diff.baseline import dump
from specbind.diff.finding import Finding, Verdict
from specbind.diff.sides import Reading, compare_sides, open_side
from specbind.native.errors import NativeError
from specbind.native.pin import Pin, Sdist, load_pin
from specbind.native.progress import Silent
from specbind.native.source import sdist
from specbind.spec.load import load

ROOT = Path(__file__).resolve().parents[2]
ABI = ROOT / "abi" / "llama_speculative.yaml"
HEADER = ROOT / "native" / "include" / "llama_speculative.h"
OURS = Reading(prefix="llama_speculative_")

NEW_PIN = load_pin(ROOT / "abi" / "llama_cpp.yaml")
OLD_PIN = Pin(
    version="0.3.34",
    commit="",
    sdist=Sdist(
        package="llama-cpp-python",
        version="0.3.34",
        file="llama_cpp_python-0.3.34.tar.gz",
        size=71617302,
        sha256="d849d286d808284f1d3ec1bd6875572430d29d1f9574a010232caa4e9cef0e35",
        folder="llama_cpp_python-0.3.34/vendor/llama.cpp",
    ),
)


def side(given: str | Path, reading: Reading = OURS) -> Any:
    return open_side(str(given), reading, Path("nowhere"))


def differences(old: str | Path, new: str | Path, reading: Reading = OURS) -> tuple[Finding, ...]:
    return compare_sides(side(old, reading), side(new, reading), reading)


def test_our_header_is_what_spec_and_baseline_say(tmp_path: Path) -> None:
    baseline = tmp_path / "0.1.0.yaml"
    baseline.write_text(dump(load(ABI)), encoding="utf-8")
    for other in (ABI, baseline):
        assert differences(HEADER, other) == differences(other, HEADER) == ()


@pytest.mark.parametrize(
    ("edited", "rule", "item"),
    [
        ("int32_t dst, int32_t src)", "parameters-swapped", "function seq_copy(src, dst)"),
        ("int32_t source, int32_t dst)", "parameter-renamed", "function seq_copy(src)"),
        ("int32_t from, int32_t to)", "parameters-ambiguous", "function seq_copy(src, dst)"),
        ("int64_t src, int32_t dst)", "parameter-width-changed", "function seq_copy(src)"),
        ("int32_t src, int32_t dst, int32_t n)", "parameter-added", "function seq_copy(n)"),
    ],
)
def test_a_header_that_was_edited_by_hand_is_found_out(tmp_path: Path, edited: str, rule: str, item: str) -> None:
    text, count = re.subn(r"int32_t +src,\s+int32_t +dst\)", edited, HEADER.read_text(encoding="utf-8"))
    assert count == 1
    path = tmp_path / "llama_speculative.h"
    path.write_text(text, encoding="utf-8")
    for original in (HEADER, ABI):
        found = differences(original, path)
        assert [(f.rule, f.item) for f in found] == [(rule, item)]
        assert found[0].span.file == str(path)


def test_a_header_of_a_commit_is_read_with_what_it_includes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*command: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", *command], cwd=tmp_path, check=True, capture_output=True
        )

    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "types.h").write_text("#include <stdint.h>\ntypedef int32_t shop_count;\n")
    (tmp_path / "include" / "shop.h").write_text('#include "types.h"\nvoid shop_sell(shop_count n);\n')
    git("init", "-q")
    git("add", "include")
    git("commit", "-q", "-m", "first")
    (tmp_path / "include" / "shop.h").write_text('#include "types.h"\nvoid shop_sell(shop_count n);\nvoid shop_shut(void);\n')
    monkeypatch.chdir(tmp_path)
    found = differences("git:HEAD:include/shop.h", "include/shop.h", Reading(prefix="shop_"))
    assert [(f.rule, f.item) for f in found] == [("function-added", "function shut")]


def test_a_header_is_compared_with_a_library_by_places_numbers_and_symbols(build: Any, tmp_path: Path) -> None:
    assert differences(HEADER, build.library) == ()
    path = tmp_path / "llama_speculative.h"
    text = HEADER.read_text(encoding="utf-8")
    path.write_text(
        text.replace("#define LLAMA_SPECULATIVE_SEQ_ALL    (-1)", "#define LLAMA_SPECULATIVE_SEQ_ALL    (-7)"), encoding="utf-8"
    )
    assert [(f.rule, f.item) for f in differences(path, build.library)] == [("value-differs", "constant SEQ_ALL")]


# --- llama.h ---


@pytest.fixture(scope="module")
def headers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The include folders of the two llama.cpp trees, from the archives in the user's cache."""
    folder = tmp_path_factory.mktemp("llama")
    found = {}
    for pin in (OLD_PIN, NEW_PIN):
        try:
            archive = sdist(pin, cache_dir(), Silent())
        except NativeError as error:
            pytest.skip(f"{pin.sdist.file} is not in the cache and cannot be fetched: {error}")
        wanted = (f"{pin.sdist.folder}/include/", f"{pin.sdist.folder}/ggml/include/")
        with tarfile.open(archive) as tar:
            tar.extractall(folder, [m for m in tar if m.name.startswith(wanted)], filter="data")
        found[pin.sdist.version] = folder / pin.sdist.folder
    return found


def test_what_changed_in_llama_h_between_two_releases_is_found(headers: dict[str, Path]) -> None:
    """Both params structs moved and a sampler's constructor gained a parameter, while every symbol of them stayed."""
    sides = []
    for tree in headers.values():
        reading = Reading((tree / "include", tree / "ggml" / "include"), "llama_")
        sides.append(open_side(str(tree / "include" / "llama.h"), reading, Path("nowhere")))
    found = compare_sides(sides[0], sides[1], Reading())
    seen = {(f.rule, f.item) for f in found}
    assert ("parameter-added", "function sampler_init_penalties(n_vocab)") in seen
    assert ("field-inserted", "struct context_params.n_outputs_max_per_seq") in seen
    assert ("field-inserted", "struct model_params.load_mode") in seen
    assert ("field-inserted", "struct model_params.lazy_mode") in seen
    assert {("field-removed", f"struct model_params.{name}") for name in ("use_mmap", "use_direct_io", "use_mlock")} <= seen
    assert max(f.verdict for f in found) >= Verdict.BINARY
    for side in sides:
        assert compare_sides(side, side, Reading()) == ()
