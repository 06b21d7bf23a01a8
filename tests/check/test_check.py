"""`specbind check` names what differs: by struct and field, by symbol, in each language, on each target."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from specbind.check.header import assert_everywhere, header_view
from specbind.check.languages import LANGUAGES, language_view
from specbind.check.view import judge, read_rows
from specbind.cli import main
from specbind.diff.library import host_target
from specbind.diff.table import of_spec
from specbind.emit.core import backends
from specbind.harness.doctored import EXPORTED, compile_stub, with_fields_swapped
from specbind.layout.targets import TARGETS
from specbind.native.tools import which
from specbind.spec.load import load

ROOT = Path(__file__).resolve().parents[2]
SPEC = load(ROOT / "abi" / "llama_speculative.yaml")
HEADER = ROOT / "native" / "include" / "llama_speculative.h"
TOOLCHAINS = {row["name"]: row for row in yaml.safe_load((ROOT / "ci" / "toolchains.yaml").read_text(encoding="utf-8"))["tools"]}
SWAPPED = with_fields_swapped(SPEC, "counters", "n_drafted", "n_accepted")


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["check", *map(str, arguments)])


def views(result: Result) -> dict[str, Any]:
    return {view["name"]: view for view in json.loads(result.stdout)["views"]}


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that says of itself what the spec says."""
    return compile_stub(SPEC, tmp_path_factory.mktemp("honest"))


def hint(name: str) -> str:
    language = LANGUAGES[name]
    return TOOLCHAINS[language.toolchain]["install"] if language.toolchain else ""


def needs(name: str) -> None:
    for command in LANGUAGES[name].needs:
        if which(command) is None:
            pytest.skip(f"{command} is missing: {hint(name)}")


# --- the real thing --------------------------------------------------------------------------------------------------


def test_the_built_library_and_the_python_binding_agree_with_the_spec(build: Any) -> None:
    result = run("--library", build.library, "--language", "python")
    assert result.exit_code == 0, result.output
    assert "All agree." in result.stdout
    found = views(run("--library", build.library, "--language", "python", "--format", "json"))
    assert {name: view["status"] for name, view in found.items()} == {"header": "ok", "library": "ok", "python": "ok"}


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_language_sees_what_the_spec_says_and_a_moved_field_is_named(name: str, tmp_path: Path) -> None:
    needs(name)
    expected = of_spec(SPEC, host_target())
    outcome = judge(expected, language_view(name, ROOT / "bindings_out", ""))
    assert (outcome.status, outcome.findings, outcome.view.failed) == ("ok", (), "")
    for path, text in backends()[name].render(SWAPPED).items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    found = judge(expected, language_view(name, tmp_path / "bindings_out", ""))
    # behind struct_size, a reserved field of the same size, and two counters of 8 bytes
    assert [(f.item, f.old, f.new) for f in found.findings] == [
        ("struct counters.n_drafted", "offset 24, 8 bytes", "offset 32, 8 bytes"),
        ("struct counters.n_accepted", "offset 32, 8 bytes", "offset 24, 8 bytes"),
    ]


# --- libraries -------------------------------------------------------------------------------------------------------


def test_a_library_with_two_fields_exchanged_is_named_by_struct_and_field(tmp_path: Path) -> None:
    library = compile_stub(SWAPPED, tmp_path)
    result = run("--library", library, "--language", "python", "--format", "json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["verdict"] == "disagree"
    assert found["matrix"]["counters"] == {"header": [], "library": ["n_drafted", "n_accepted"], "python": []}
    assert found["matrix"]["params"] == {"header": [], "library": [], "python": []}
    text = run("--library", library, "--language", "python").stdout
    assert "library: struct counters.n_drafted: " in text
    assert "There are differences." in text


def test_an_export_that_is_missing_is_named_although_the_table_lists_it(honest: Path, tmp_path: Path) -> None:
    folder = honest.parent
    symbols = tmp_path / "symbols.c"
    gone = f"{EXPORTED} void {SPEC.prefix}decode(void)"
    text = (folder / "symbols.c").read_text(encoding="utf-8")
    assert gone in text
    symbols.write_text(text.replace(gone, gone.removeprefix(EXPORTED)), encoding="utf-8")
    library = tmp_path / honest.name
    sources = (symbols, folder / "stub.c", folder / "identity_table.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-fvisibility=hidden", "-o", library, *sources], check=True)
    result = run("--library", library, "--language", "python", "--format", "json")
    assert result.exit_code == 1
    (difference,) = views(result)["library"]["differences"]
    assert difference["item"] == "function decode"
    assert "does not export it" in difference["message"]


def test_an_export_that_the_spec_lacks_is_named(tmp_path: Path) -> None:
    more = replace(SPEC, functions=(*SPEC.functions, replace(SPEC.functions[0], name="surprise")), _index={})
    result = run("--library", compile_stub(more, tmp_path), "--language", "python", "--format", "json")
    assert result.exit_code == 1
    assert [d["item"] for d in views(result)["library"]["differences"]] == ["function surprise"]


def test_a_library_that_is_none_is_one_message(tmp_path: Path) -> None:
    path = tmp_path / "libx.so"
    path.write_text("text")
    result = run("--library", path)
    assert result.exit_code == 2
    assert str(path) in result.stderr and "Traceback" not in result.stderr


# --- headers ---------------------------------------------------------------------------------------------------------


def edited(tmp_path: Path, old: str, new: str) -> Path:
    text = HEADER.read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    path = tmp_path / HEADER.name
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("old", "new", "item"),
    [
        ("uint64_t n_drafted;", "uint32_t n_drafted;", "struct counters.n_drafted"),
        ("uint64_t n_drafted;", "", "struct counters.n_drafted"),
        ("LLAMA_SPECULATIVE_ERROR_MODEL            = -7,", "LLAMA_SPECULATIVE_ERROR_MODEL            = -77,", "enum status.ERROR_MODEL"),
        ("llama_speculative_abi_version(void);", "llama_speculative_abi_version(int32_t);", "function abi_version"),
        ("llama_speculative_abi_version(void);", "llama_speculative_abi_verzion(void);", "function abi_version"),
    ],
    ids=["retyped", "removed", "value", "parameter", "renamed"],
)
def test_an_edited_header_is_named(old: str, new: str, item: str, honest: Path, tmp_path: Path) -> None:
    result = run("--library", honest, "--language", "python", "--header", edited(tmp_path, old, new), "--format", "json")
    assert result.exit_code == 1
    assert item in [d["item"] for d in views(result)["header"]["differences"]]


def test_a_header_that_does_not_compile_has_failed(tmp_path: Path) -> None:
    path = tmp_path / "broken.h"
    path.write_text("int32_t f(;\n")
    view = header_view(SPEC, path, host_target())
    assert view.table is None
    assert "does not compile" in view.failed


def test_the_headers_assertions_are_compiled_for_every_target(tmp_path: Path) -> None:
    if which("clang") is None:
        pytest.importorskip("ziglang", reason="no compiler for other targets: pip install ziglang")
    found = assert_everywhere(SPEC, HEADER)
    assert [(each.target, each.faults, each.skipped) for each in found] == [(name, (), "") for name in TARGETS]
    wrong = assert_everywhere(SPEC, edited(tmp_path, "offsetof(llama_speculative_handles, model) == 8);\nLLAMA_SPECULATIVE_CHECK(offsetof(llama_speculative_handles, ctx_tgt) == 12)", "offsetof(llama_speculative_handles, model) == 8);\nLLAMA_SPECULATIVE_CHECK(offsetof(llama_speculative_handles, ctx_tgt) == 16)"))  # fmt: skip
    assert {each.target: each.faults for each in wrong if each.faults} == {
        target.name: ("handles.ctx_tgt is not at offset 16",) for target in TARGETS.values() if target.pointer == 4
    }


# --- toolchains that are not there -----------------------------------------------------------------------------------


def test_a_missing_toolchain_is_skipped_with_the_hint_and_an_error_if_required(
    honest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("specbind.check.languages.which", lambda name: None)
    options = ("--library", honest, "--language", "rust", "--language", "python")
    result = run(*options, "--format", "json")
    assert result.exit_code == 0
    rust = views(result)["rust"]
    assert (rust["status"], rust["reason"]) == ("skipped", f"rustc is missing: {hint('rust')}")
    required = run(*options, "--require", "rust")
    assert required.exit_code == 1
    assert f"rust: skipped and required: rustc is missing: {hint('rust')}" in required.stdout


@pytest.mark.parametrize("arguments", [("--language", "rusty"), ("--require", "rusty")])
def test_a_name_that_is_not_there_ends_with_2(arguments: tuple[str, str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Did you mean 'rust'?" in result.stderr


def test_a_line_that_is_no_row_is_refused() -> None:
    with pytest.raises(ValueError, match="not a row of a table: warning"):
        read_rows("struct s 8 8\nwarning: something\n")


def test_every_language_of_the_bindings_has_a_view() -> None:
    assert set(LANGUAGES) == {path.name for path in (ROOT / "bindings_out").iterdir() if path.is_dir()} - {"c"}
