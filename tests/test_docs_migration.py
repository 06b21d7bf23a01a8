"""docs/migration: the files, options and commands that the pages name exist, and their code is right against the generated bindings."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

import pytest

from specbind.harness.oracle.cycle import CYCLE, NEXT, VOCABULARY, run

ROOT = Path(__file__).resolve().parents[1]
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "migration").glob("*.md"))}
LANGUAGES = {
    "llamasharp": "csharp",
    "llama-cpp-python": "python",
    "llama-cpp-rs": "rust",
    "llamadart": "dart",
    "go": "go",
    "swift": "swift",
}
SECTIONS = ("Files", "Build", "Handles", "The diff", "What users write", "In CI", "Tried, and not tried")
Missing = Callable[[str], NoReturn]
PROMPT = run(NEXT, CYCLE[0], 24)

# Members in the code that belong to the language or to the wrapper.
THEIRS = {
    "csharp": "Collections Generic Speculative NativeHandle WriteLine Write Message",
    "python": "speculation append parent glob suffix path Path reset _ctx ctx _model model llama_memory_clear llama_get_memory "
    "llama_free cast llama_context_p_ctypes stdout buffer write detokenize tokenize generate",
    "rust": "context LlamaContext model LlamaModel token LlamaToken cast expect as_ref map iter collect extend into_iter clone to_string",
    "dart": "dart ffi ref toNativeUtf8 sizeOf value asTypedList setAll length toList cast",
    "go": "Pointer Context Model Token Fatal Printf Println As com Getenv",
    "swift": "map",
}


def other(language: str, name: str) -> Any:
    """A module of tests/bindings, for what it has already."""
    path = ROOT / "tests" / "bindings" / language / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"docs_{name}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGES[page], re.S | re.M)


def test_there_is_one_page_for_each_wrapper() -> None:
    assert set(PAGES) == {*LANGUAGES, "README"}
    assert set(re.findall(r"\]\(([\w-]+)\.md\)", PAGES["README"])) == set(LANGUAGES)


@pytest.mark.parametrize("page", LANGUAGES)
def test_it_answers_what_a_maintainer_asks(page: str) -> None:
    headings = re.findall(r"^## (.+)$", PAGES[page], re.M)
    assert [heading for heading in headings if heading in SECTIONS] == list(SECTIONS)
    assert f"bindings_out/{LANGUAGES[page]}" in PAGES[page].split("## Files")[1].split("\n## ")[0]
    assert f"--language {LANGUAGES[page]} " in PAGES[page] or page == "llamadart"


@pytest.mark.parametrize("page", PAGES)
def test_every_path_of_ours_exists(page: str) -> None:
    named = re.findall(r"`((?:bindings_out|native|ci|docs|abi|tests|generator)/[\w./-]*)", PAGES[page])
    assert len(named) > 4
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_option_of_the_build_exists(page: str) -> None:
    options = set(re.findall(r"^set\((\w+) .* CACHE ", (ROOT / "native" / "CMakeLists.txt").read_text(encoding="utf-8"), re.M))
    named = set(re.findall(r"-D(LLAMA_\w+|SPECBIND_\w+)=", PAGES[page])) | set(
        re.findall(r"^\| `([A-Z_]+)` \|", PAGES[page], re.M)
    )
    assert named <= options
    assert page != "README" or named == options - {"CMAKE_BUILD_TYPE"}


@pytest.mark.parametrize("page", PAGES)
def test_every_command_and_its_options_exist(page: str) -> None:
    from specbind.cli import main

    calls = re.findall(r"(?:^|`)specbind ([a-z]+)([^`\n]*)", PAGES[page], re.M)
    assert calls
    for name, rest in calls:
        command = main.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None, name
        known = {option for parameter in command.params for option in parameter.opts}
        assert set(re.findall(r"--[\w-]+", rest)) <= known, f"specbind {name}{rest}"


@pytest.mark.parametrize(("page", "language"), LANGUAGES.items())
def test_every_member_in_the_code_is_the_bindings(page: str, language: str) -> None:
    folder = ROOT / "bindings_out" / language
    files = [path for suffix in ("cs", "dart", "go", "py", "rs", "swift", "h") for path in folder.rglob(f"*.{suffix}")]
    known = {word for path in files for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    own = set()
    for block in (code := blocks(page, language)):
        bare = re.sub(r"(?<!:)//.*|#.*", "", re.sub(r'"""|b?"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', '""', block))
        own |= set(re.findall(r"(?:\.|::)([A-Za-z_]\w*)", bare))
    assert code and len(own & known) > 5
    defined = set(re.findall(r"\b(?:func|def|fn|class|IEnumerable<int>|double|void|package) (\w+)", "".join(code)))
    assert own - known - defined - set(THEIRS[language].split()) == set()


# --- compilers ---------------------------------------------------------------------------------------------------------


def call(command: list[str], folder: Path, **env: str) -> str:
    done = subprocess.run(command, cwd=folder, env=os.environ | env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")


@pytest.fixture(scope="module")
def cache() -> Iterator[Path]:
    """What compilers keep from run to run, outside the checkout, one run's at a time."""
    from specbind.native.lock import locked
    from specbind.native.paths import cache_dir, digest
    from specbind.native.progress import Silent

    folder = cache_dir() / "docs" / digest(str(ROOT))
    with locked(folder, Silent()):
        yield folder


def test_the_csharp_compiles(tmp_path: Path, missing: Missing) -> None:
    if shutil.which("mcs") is None:
        missing("Mono")
    handle = "public System.Runtime.InteropServices.SafeHandle NativeHandle => null;"
    theirs = (
        f"namespace LLama {{ public sealed class LLamaContext {{ {handle} }} public sealed class LLamaWeights {{ {handle} }} }}"
    )
    write(tmp_path, {"theirs.cs": theirs, **{f"{i}.cs": code for i, code in enumerate(blocks("llamasharp", "csharp"))}})
    sources = [*sorted((ROOT / "bindings_out" / "csharp" / "LlamaSpeculative").glob("*.cs")), *sorted(tmp_path.glob("*.cs"))]
    options = ["-langversion:7.2", "-warnaserror", "-unsafe", "-target:library", f"-out:{tmp_path / 'out.dll'}"]
    call(["mcs", *options, *map(str, sources)], tmp_path)


def test_the_rust_compiles(cache: Path, missing: Missing) -> None:
    if shutil.which("cargo") is None:
        missing("Rust")
    (code,) = blocks("llama-cpp-rs", "rust")
    pointer = "pub struct {0}; impl {0} {{ pub fn as_ptr(&self) -> *mut u8 {{ std::ptr::null_mut() }} }}"
    context = (
        pointer.format("LlamaContext")
        .replace("LlamaContext;", "LlamaContext<'a>(&'a ());")
        .replace("impl LlamaContext", "impl LlamaContext<'_>")
    )
    theirs = (
        f"pub mod context {{ {context} }} pub mod model {{ {pointer.format('LlamaModel')} }} "
        "pub mod token { #[derive(Clone, Copy)] pub struct LlamaToken(pub i32); }"
    )
    crate = ROOT / "bindings_out" / "rust" / "llama-speculative"
    manifest = f'[package]\nname = "page"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nllama-speculative = {{ path = "{crate}" }}\n'
    write(cache / "rust", {"Cargo.toml": manifest, "src/lib.rs": f"#[allow(dead_code)] mod llama_cpp_2 {{ {theirs} }}\n{code}"})
    call(
        ["cargo", "check", "--quiet"], cache / "rust",
        CARGO_TARGET_DIR=str(cache / "cargo"), CARGO_NET_OFFLINE="true", RUSTFLAGS="--deny warnings",
    )  # fmt: skip


def test_the_go_is_vetted(cache: Path, missing: Missing) -> None:
    folder = other("go", "test_go").go_folder()
    if folder is None:
        missing("Go")
    from specbind.native.paths import cache_dir, digest

    package, program = blocks("go", "go")
    module = "module {}\n\ngo 1.24\n"
    requires = {
        "github.com/hybridgroup/yzma": "../yzma",
        "llamaspeculative": str(ROOT / "bindings_out" / "go"),
        "speculation": "../speculation",
    }
    versions = "".join(f"require {name} v0.1.0\nreplace {name} v0.1.0 => {place}\n" for name, place in requires.items())
    write(
        cache / "go",
        {
            "yzma/go.mod": module.format("github.com/hybridgroup/yzma"),
            "yzma/pkg/llama/llama.go": "package llama\n\ntype (\n\tContext uintptr\n\tModel uintptr\n\tToken int32\n)\n",
            "speculation/go.mod": module.format("speculation") + versions.split("require speculation")[0],
            "speculation/speculation.go": package,
            "program/go.mod": module.format("program") + versions,
            "program/main.go": program,
        },
    )
    settings = {"GOCACHE": str(cache_dir() / "bindings" / digest(str(ROOT)) / "go"), "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOPROXY": "off",
                "GOWORK": "off", "CGO_ENABLED": "1"}  # fmt: skip
    call([str(folder / "go"), "vet", "speculation", "program"], cache / "go" / "program", **settings)
    assert call([str(folder / "gofmt"), "-l", "speculation", "program"], cache / "go") == ""


def test_the_swift_type_checks(cache: Path, missing: Missing) -> None:
    if shutil.which("swiftc") is None:
        missing("Swift")
    folder = ROOT / "bindings_out" / "swift" / "Sources"
    sources = sorted((folder / "LlamaSpeculative").glob("*.swift"))
    stamp = sha256(
        b"".join(path.read_bytes() for path in [*sources, *sorted((folder / "CLlamaSpeculative").glob("*.*"))])
    ).hexdigest()
    place, options = cache / "swift" / stamp, ["-swift-version", "6", "-I", str(folder / "CLlamaSpeculative")]
    if not place.is_dir():
        shutil.rmtree(cache / "swift", ignore_errors=True)
        place.mkdir(parents=True)
        call(["swiftc", "-emit-module", "-module-name", "LlamaSpeculative", *options, *map(str, sources)], place)
    (place / "page.swift").write_text("\n".join(blocks("swift", "swift")), encoding="utf-8")
    call(["swiftc", "-typecheck", "-warnings-as-errors", *options, "-I", str(place), str(place / "page.swift")], place)


def test_the_dart_parses() -> None:
    tree_sitter = pytest.importorskip("tree_sitter", reason="pip install tree-sitter tree-sitter-dart-orchard")
    grammar = pytest.importorskip("tree_sitter_dart_orchard", reason="pip install tree-sitter tree-sitter-dart-orchard")
    (code,) = blocks("llamadart", "dart")
    assert not tree_sitter.Parser(tree_sitter.Language(grammar.language())).parse(code.encode()).root_node.has_error


# --- Python, run on an oracle model with the real llama-cpp-python -----------------------------------------------------

_PYTHON = other("python", "test_llama_cpp_python")
site, python = _PYTHON.site, _PYTHON.python


def test_the_python_runs_on_a_llama_of_llama_cpp_python(site: Path, build: Any, models: dict[str, Path]) -> None:
    module, program, check = blocks("llama-cpp-python", "python")
    (site / "llama_cpp" / "speculation.py").write_text(module, encoding="utf-8")
    for name, model in (("model", "target-llama"), ("draft", "draft-llama")):
        given = f'"{name}.gguf", n_ctx=4096'
        assert given in program
        program = program.replace(given, f"{str(models[model])!r}, n_ctx=256, n_threads=1, n_threads_batch=1, verbose=False")
    assert 'b"Once upon a time"' in program
    said = python(site, build, program.replace('b"Once upon a time"', repr(VOCABULARY.decode(PROMPT))))
    assert said == VOCABULARY.decode(run(NEXT, NEXT[PROMPT[-1]], 64)).decode()
    head = f"from llama_cpp import Llama\nfrom llama_cpp.speculation import speculate\nprompt = {PROMPT}\n"
    head += f"llama = Llama({str(models['target-llama'])!r}, n_ctx=256, n_threads=1, n_threads_batch=1, verbose=False)\n"
    tail = "assert list(speculate(llama, prompt, n_predict=2)) == [[plain[0]], [plain[1]]]\nimport json; print(json.dumps(plain))"
    assert json.loads(python(site, build, head + check + tail)) == run(NEXT, NEXT[PROMPT[-1]], 64)
