"""What can stand on either side, and what is said of what cannot."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from specbind.diff.baseline import dump
from specbind.diff.errors import DiffError
from specbind.diff.finding import Verdict
from specbind.diff.sides import Reading, compare_sides, open_side
from specbind.layout.signature import spec_hash
from specbind.spec.diagnostics import SpecError
from specbind.spec.load import load

ROOT = Path(__file__).resolve().parents[2]
ABI = ROOT / "abi" / "llama_speculative.yaml"
SAMPLE = ROOT / "tests" / "spec" / "sample.yaml"
PAIR = Path(__file__).with_name("fixtures") / "field-sign-changed"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository whose commit has the sample, and whose work tree has a function less."""

    def git(*command: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", *command], cwd=tmp_path, check=True, capture_output=True
        )

    text = SAMPLE.read_text(encoding="utf-8")
    (tmp_path / "abi").mkdir()
    spec = tmp_path / "abi" / "spec.yaml"
    spec.write_text(text, encoding="utf-8")
    git("init", "-q")
    git("add", "abi")
    git("commit", "-q", "-m", "first")
    start = text.index("  - name: takings_get")
    spec.write_text(text[:start], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def side(given: str | Path, folder: Path = Path("nowhere")) -> Any:
    return open_side(str(given), Reading(), folder)


def test_a_commit_is_compared_with_the_work_tree(repository: Path) -> None:
    old, new = side("git:HEAD:abi/spec.yaml"), side("abi/spec.yaml")
    assert (old.side.label, old.side.version) == ("git:HEAD:abi/spec.yaml", "0.3.0")
    assert [(f.rule, f.item) for f in compare_sides(old, new, Reading())] == [
        ("function-removed", "function takings_get"),
        ("removed-early", "function takings_get"),
    ]


def test_a_path_in_a_commit_counts_from_the_current_folder(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository / "abi")
    assert side("git:HEAD:spec.yaml").spec == side("git:HEAD:spec.yaml").spec


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("git:HEAD", "write git:REF:PATH, such as git:main:"),
        ("git:HEAD:abi/other.yaml", "abi/other.yaml' does not exist in 'HEAD'"),
        ("git:nobranch:abi/spec.yaml", "nobranch"),
        ("git:HEAD:lib.so", "libraries are built, not committed"),
        ("abi/none.yaml", "abi/none.yaml: there is no such file. A side is a spec or baseline"),
        ("abi", "abi: not a kind of file that can be compared"),
        ("1.2.3", "there is no release 1.2.3. Releases in nowhere: none yet."),
    ],
)
def test_what_is_no_side_is_refused_with_what_would_be(repository: Path, given: str, message: str) -> None:
    with pytest.raises(DiffError) as caught:
        side(given)
    assert message in str(caught.value)


def test_a_release_is_known_by_its_version_and_others_are_listed(tmp_path: Path) -> None:
    (tmp_path / "1.0.0.yaml").write_text(dump(load(SAMPLE)), encoding="utf-8")
    released = side("1.0.0", tmp_path)
    assert (released.kind, released.side.version, released.side.abi_hash) == ("baseline", "0.3.0", spec_hash(load(SAMPLE)))
    assert compare_sides(released, side(SAMPLE), Reading()) == ()
    with pytest.raises(DiffError, match=r"there is no release 1\.1\.0\. Releases in .*: 1\.0\.0\."):
        side("1.1.0", tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("type: i32, role: amount", "type: i33, role: amount", "SB020"),
        ("name: n_copies, type: i32", "nme: n_copies, type: i32", "SB012"),
        ("array: n_orders", "array: orderz", "SB024"),
    ],
)
def test_a_spec_whose_names_lead_nowhere_is_refused_like_lint_does(tmp_path: Path, old: str, new: str, code: str) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(SAMPLE.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        side(path)
    assert code in {diagnostic.code for diagnostic in caught.value.diagnostics}


def test_an_old_spec_that_a_younger_rule_refuses_can_still_be_compared(tmp_path: Path) -> None:
    text = (PAIR / "old.yaml").read_text(encoding="utf-8").replace("name: copies, type: u32", "name: copies, type: u64")
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match="SB041"):  # padding
        load(path)
    assert [f.rule for f in compare_sides(side(path), side(PAIR / "old.yaml"), Reading())] == ["field-width-changed"]


def test_what_was_read_before_is_found_again_and_a_damaged_cache_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECBIND_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "spec.yaml"
    path.write_bytes(SAMPLE.read_bytes())
    first = side(path)
    (entry,) = (tmp_path / "cache" / "sides").iterdir()
    with monkeypatch.context() as broken:
        broken.setattr("specbind.diff.sides.from_yaml", None)
        assert side(path) == first
    path.write_text(SAMPLE.read_text(encoding="utf-8").replace("default: 6.5", "default: 7.5"), encoding="utf-8")
    assert [f.rule for f in compare_sides(first, side(path), Reading())] == ["default-changed"]
    entry.write_bytes(entry.read_bytes()[:100])
    path.write_bytes(SAMPLE.read_bytes())
    assert side(path) == first
    monkeypatch.setenv("SPECBIND_CACHE", str(path))  # a file: no folder can be made in it
    assert side(path) == first


# --- the library ---


def test_the_built_library_is_what_the_spec_says(build: Any) -> None:
    spec, library = side(ABI), side(build.library)
    assert compare_sides(spec, library, Reading()) == compare_sides(library, spec, Reading()) == ()
    assert (library.side.version, library.side.abi_hash) == (spec.side.version, spec_hash(load(ABI)))


def test_a_spec_that_went_on_without_the_library_differs_in_each_way(build: Any, tmp_path: Path) -> None:
    text = ABI.read_text(encoding="utf-8")
    for old, new in (
        ("- {name: n_draft_max, type: i32, default: 3,", "- {name: n_draft_max, type: i64, default: 3,"),
        ("{name: SEQ_ALL, type: i32, value: -1,", "{name: SEQ_ALL, type: i32, value: -2,"),
        ("{name: src, type: i32,", "{name: src, type: i64,"),
        ("  - name: stats_reset\n", "  - name: stats_forget\n"),
    ):
        assert old in text
        text = text.replace(old, new, 1)
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    found = {(f.rule, f.item) for f in compare_sides(side(path), side(build.library), Reading())}
    assert {
        ("value-differs", "constant SEQ_ALL"),
        ("signature-differs", "function seq_copy"),
        ("symbol-missing", "function stats_forget"),
        ("symbol-unlisted", "function stats_reset"),
        ("layout-differs", "struct params.n_draft_max"),
        ("layout-differs", "struct params.n_draft_min"),
    } <= found
    assert all(f.verdict is not Verdict.NONE for f in compare_sides(side(path), side(build.library), Reading()))


def test_a_library_of_something_else_and_a_file_that_is_none_are_refused(tmp_path: Path, build: Any) -> None:
    other = next(path for path in build.lib_dir.glob("libggml-base.so"))
    with pytest.raises(DiffError, match="exports no `…identity_get`"):
        side(other)
    text = tmp_path / "libtext.so"
    text.write_text("text")
    with pytest.raises(DiffError, match="is not a shared library"):
        side(text)


def test_a_library_that_brings_its_process_down_is_told_in_one_line(tmp_path: Path) -> None:
    import shutil

    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("a C compiler is missing: `apt install gcc`")
    source, library = tmp_path / "bad.c", tmp_path / "libbad.so"
    source.write_text("#include <stdlib.h>\nint x_identity_get(void) { return 0; }\nint x_build_info(void) { abort(); }\n")
    subprocess.run([cc, "-shared", "-fPIC", "-o", library, source], check=True)
    with pytest.raises(DiffError, match=r"cannot be asked for its table: the process that loaded it ended with -6"):
        side(library)
