"""A tree or a shim that the series is not for: a message that names what is missing, and nothing on the disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from specbind.commands.propose import command
from specbind.propose import driver, series
from specbind.propose.edits import Create, Edit, Insert, Wrap
from specbind.propose.errors import ProposeError
from specbind.propose.shim import Shim, read_shim

ROOT = Path(__file__).resolve().parents[2]


def anchors(edit: Edit) -> list[str]:
    if isinstance(edit, Create):
        return []
    return [edit.first, edit.last] if isinstance(edit, Wrap) else [edit.anchor]


def test_a_tree_without_an_anchor_is_refused_by_name(plan: series.Plan, tree: Path) -> None:
    read = series.tree_reader(tree)
    tried = 0
    for step in plan.steps:
        for edit in step.edits:
            for anchor in anchors(edit):
                text = read(edit.path)
                if text is None or anchor not in text:
                    continue  # put there by an earlier step

                def without(path: str, gone: Edit = edit, anchor: str = anchor, text: str = text) -> str | None:
                    return text.replace(anchor, "") if path == gone.path else read(path)

                with pytest.raises(ProposeError) as caught:
                    series.patches(plan, without)
                assert edit.path in str(caught.value)
                assert anchor.strip().splitlines()[0] in str(caught.value)
                assert "is not there" in str(caught.value)
                tried += 1
    assert tried >= 18


def test_an_anchor_that_stands_twice_is_refused(plan: series.Plan, tree: Path) -> None:
    read = series.tree_reader(tree)
    anchor = next(e for e in plan.steps[3].edits if isinstance(e, Insert)).anchor
    with pytest.raises(ProposeError, match=r"common/speculative\.h: .* stands there 2 times"):
        series.patches(plan, lambda path: (read(path) or "") + anchor if path == "common/speculative.h" else read(path))


def test_a_tree_that_has_the_series_already_is_refused(plan: series.Plan, tree: Path, final: dict[str, str]) -> None:
    read = series.tree_reader(tree)
    with pytest.raises(ProposeError):
        series.patches(plan, lambda path: final.get(path) or read(path))
    with pytest.raises(ProposeError, match="has this file already"):
        series.patches(plan, lambda path: "x" if path == "tests/test-speculative-state.cpp" else read(path))


@pytest.fixture
def copy(plan: series.Plan, tree: Path, tmp_path: Path) -> Path:
    """A tree that has what the series looks at."""
    read = series.tree_reader(tree)
    paths = {edit.path for step in plan.steps for edit in step.edits} | {"include/llama.h", "src/llama-context.h"}
    for path in sorted(paths):
        text = read(path)
        if text is not None:
            (tmp_path / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "tree" / path).write_text(text, encoding="utf-8")
    return tmp_path / "tree"


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(command, [str(a) for a in arguments])
    return result.exit_code, result.output


def test_the_command_writes_the_series_and_the_text(copy: Path, tmp_path: Path, patches: list[object]) -> None:
    out = tmp_path / "out"
    code, said = run("--llama", copy, "-o", out)
    assert code == 0, said
    names = sorted(path.name for path in out.iterdir())
    assert len(names) == len(patches) + 1
    assert [str(out / name) for name in names] == said.split()
    first = {path.name: path.read_bytes() for path in out.iterdir()}
    assert run("--llama", copy, "-o", out)[0] == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == first


def test_nothing_is_written_for_another_tree(copy: Path, tmp_path: Path) -> None:
    header = copy / "common" / "speculative.h"
    header.write_text(header.read_text(encoding="utf-8").replace("// print statistics about the speculative decoding\n", ""), encoding="utf-8")
    code, said = run("--llama", copy, "-o", tmp_path / "out")
    assert code == 1
    assert said.startswith("specbind propose: common/speculative.h: the line `// print statistics about the speculative decoding` is not there")
    assert [path.name for path in tmp_path.iterdir()] == ["tree"]


def test_a_folder_with_other_files_is_left_alone(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine", encoding="utf-8")
    code, said = run("--llama", copy, "-o", tmp_path / "out")
    assert code == 1
    assert "it holds notes.txt" in said
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["notes.txt"]


def test_an_author_without_an_address_is_refused(copy: Path, tmp_path: Path) -> None:
    code, said = run("--llama", copy, "-o", tmp_path / "out", "--author", "Ada")
    assert code == 1
    assert "--author Ada" in said
    assert not (tmp_path / "out").exists()
    assert run("--llama", copy, "-o", tmp_path / "out", "--author", "Ada Lovelace <ada@example.org>")[0] == 0
    assert "\nFrom: Ada Lovelace <ada@example.org>\n" in next((tmp_path / "out").glob("0001*")).read_text(encoding="utf-8")


def test_a_folder_that_is_no_llama_cpp_is_refused(tmp_path: Path) -> None:
    code, said = run("--llama", tmp_path, "-o", tmp_path / "out")
    assert code == 1
    assert "is not a llama.cpp source tree" in said


def test_a_file_of_the_shim_without_a_place_is_refused(shim: Shim, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name, text in shim.texts.items():
        if "/" not in name:
            (tmp_path / "src" / name).write_text(text, encoding="utf-8")
    (tmp_path / "src" / "novel.cpp").write_text("", encoding="utf-8")
    generated = {name.removeprefix("generated/"): text for name, text in shim.texts.items() if "/" in name}
    with pytest.raises(ProposeError, match=r"native/src/novel\.cpp: intree\.yaml does not say"):
        read_shim(tmp_path, generated, shim.public_header)
    (tmp_path / "src" / "novel.cpp").unlink()
    (tmp_path / "src" / "rounds.cpp").unlink()
    with pytest.raises(ProposeError, match=r"rounds\.cpp: intree\.yaml names a file of the shim that is not there"):
        read_shim(tmp_path, generated, shim.public_header)


def test_a_function_of_the_driver_without_a_place_is_refused(shim: Shim) -> None:
    header = shim.texts["driver_access.h"].replace("} // namespace spb::driver", "void novel(int32_t seq);\n\n} // namespace spb::driver")
    with pytest.raises(ProposeError, match=r"driver_access\.h: novel has no row in intree\.yaml"):
        driver.split(replace(shim, texts={**shim.texts, "driver_access.h": header}))
    source = shim.texts["driver_access.cpp"].replace("} // namespace spb::driver", "static void helper() {\n}\n\n} // namespace spb::driver")
    with pytest.raises(ProposeError, match=r"the helper helper has no row"):
        driver.split(replace(shim, texts={**shim.texts, "driver_access.cpp": source}))
    with pytest.raises(ProposeError, match=r"driver::novel: intree\.yaml does not say"):
        shim.translated("driver::novel(1);")
