"""docs/mapping: every function of theirs is mapped, every function of ours is placed, and the C that it shows gives the right tokens."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from specbind.harness.oracle.cycle import CYCLE, NEXT, run
from specbind.spec.load import load

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SPEC = load(ROOT / "abi" / "llama_speculative.yaml")
FUNCTIONS = {function.name for function in SPEC.functions}
STATUSES = {value.name for value in SPEC.status.values}

RS = ("init", "free", "begin", "process", "draft", "accept")
DART = (*RS, "get_draft_context", "need_embd", "need_embd_nextn")
THEIRS = {
    "llama-cpp-27788": {f"llama_speculative_{name}" for name in ("default_params", "init", "decode", "free")}
    | {"llama_set_embeddings_nextn", "llama_get_embeddings_nextn_ith"},
    "llama-cpp-rs": {f"llama_rs_mtp_speculative_{name}" for name in RS},
    "llamadart": {f"llama_dart_speculative_{name}".replace("_process", "_process_batch") for name in DART}
    | {"llama_dart_sampler_sample_and_accept_n"},
}
PROMPT = run(NEXT, CYCLE[0], 24)


def text(name: str) -> str:
    return (DOCS / "mapping" / f"{name}.md").read_text(encoding="utf-8")


def tables(name: str, section: str) -> list[list[str]]:
    """Cells of all rows of a section, headings left out."""
    body = text(name).split(f"\n## {section}\n")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in body.splitlines() if line.startswith("|")]
    return [row for row, after in zip(rows, [*rows[1:], [""]], strict=True) if not {row[0], after[0]} & {"---"}]


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_there_is_one_page_for_each() -> None:
    assert {path.stem for path in (DOCS / "mapping").glob("*.md")} == set(THEIRS)


@pytest.mark.parametrize("name", THEIRS)
def test_every_function_of_theirs_has_a_row(name: str) -> None:
    named = {word.split("(")[0].split(".")[0] for row in tables(name, "Functions") for word in code(row[0])}
    assert THEIRS[name] - named == set()


@pytest.mark.parametrize("name", THEIRS)
def test_every_function_of_ours_is_mapped_or_has_no_counterpart(name: str) -> None:
    """`seq_set_limits` of the fields of one page is both: a function of ours for a field of theirs."""
    mapped = {word for row in tables(name, "Functions") for word in code(row[1])}
    without = {word for row in tables(name, "No counterpart there") for word in code(row[1])}
    assert mapped | without == FUNCTIONS
    assert mapped & without == set()


@pytest.mark.parametrize("name", THEIRS)
def test_every_name_of_ours_is_in_the_spec(name: str) -> None:
    known = FUNCTIONS | STATUSES
    known |= {f"{struct.name}.{field.name}" for struct in SPEC.structs for field in struct.fields}
    known |= {f"{enum.name}.{value.name}" for enum in SPEC.enums for value in enum.values}
    rows = tables(name, "Functions") + tables(name, "Fields and values")
    assert {word for row in rows for word in code(row[1])} - known == set()
    assert len(tables(name, "Fields and values")) > 5


@pytest.mark.parametrize("name", THEIRS)
def test_it_says_what_changes_and_where_the_facts_are_from(name: str) -> None:
    changes = text(name).split("## What changes for the caller")[1]
    for word in ("Ownership", "Errors", "Order", "Threads"):
        assert f"**{word}" in changes
    assert (
        "## Where the facts come from" in changes
        and "Read:" in changes
        and re.search(r"\bnot read\b|not at hand|was not", changes, re.I)
    )


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: str(path.relative_to(DOCS)))
def test_every_internal_link_of_the_documents_resolves(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        other = (path.parent / file).resolve() if file else path
        assert other.exists(), f"{target}: there is no {other}"
        if anchor and other.suffix == ".md":
            words = other.read_text(encoding="utf-8")
            anchors = {slug(heading) for heading in re.findall(r"^#+ (.+)$", words, re.M)} | set(
                re.findall(r'<a (?:name|id)="([^"]+)"', words)
            )
            assert anchor in anchors, f"{target}: {other.name} has no such heading"


# --- the C of each page, compiled and called ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(build: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """`page(name, declarations)`: the C of a page as a loaded library."""
    from cffi import FFI

    out = tmp_path_factory.mktemp("mapping")

    def page(name: str, declarations: str) -> tuple[Any, Any]:
        (block,) = re.findall(r"```c\n(.*?)```", text(name), re.S)
        source, library = out / f"{name}.c", out / f"{name}.so"
        source.write_text(block, encoding="utf-8")
        folder = build.library.parent
        subprocess.run(
            ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{ROOT / 'native' / 'include'}", str(source),
             "-o", str(library), f"-L{folder}", f"-l{SPEC.name}", f"-Wl,-rpath,{folder}"],
            check=True,
        )  # fmt: skip
        ffi = FFI()
        ffi.cdef(declarations)
        return ffi, ffi.dlopen(str(library))

    return page


@pytest.fixture
def contexts(llama: Any, models: dict[str, Path], binding: Any) -> Any:
    """Addresses of a target context, of its draft context, and of both models, freed in the right order."""
    target, draft = llama.model(models["target-llama"]), llama.model(models["draft-llama"])
    context = llama.context(target)
    address = int(llama.ffi.cast("uintptr_t", context))
    made = binding.draft_context(address, draft, strategies="draft-simple")
    yield context, address, made, int(llama.ffi.cast("uintptr_t", draft))
    llama.lib.llama_free(llama.ffi.cast("struct llama_context *", made))
    llama.lib.llama_free(context)


def test_the_loop_for_the_pull_request_gives_the_targets_tokens(page: Any, contexts: Any) -> None:
    ffi, lib = page(
        "llama-cpp-27788",
        "int32_t answer(void *, void *, const int32_t *, int32_t, int32_t, void (*)(const int32_t *, size_t));",
    )
    _, target, draft, _ = contexts
    rounds: list[list[int]] = []
    emit = ffi.callback("void(const int32_t *, size_t)", lambda tokens, n: rounds.append(list(tokens[0:n])))
    assert lib.answer(ffi.cast("void *", target), ffi.cast("void *", draft), PROMPT, len(PROMPT), 60, emit) == 0
    assert [token for tokens in rounds for token in tokens] == run(NEXT, NEXT[PROMPT[-1]], 60)
    assert len({len(tokens) for tokens in rounds}) > 1, "no draft was ever rejected, or none accepted"


def test_the_round_for_llama_cpp_rs_gives_the_targets_tokens(page: Any, contexts: Any, llama: Any, binding: Any) -> None:
    ffi, lib = page(
        "llama-cpp-rs",
        "int32_t one_round(void *, int32_t, int32_t, int32_t, void (*)(const int32_t *, int32_t, int32_t, int32_t *), int32_t *, int32_t *);",
    )
    context, target, draft, _ = contexts

    def verify(tokens: Any, n: int, pos: int, chosen: Any) -> None:
        llama.decode(context, list(tokens[0:n]), pos)
        for i in range(n):
            chosen[i] = llama.argmax(context, i, 64)

    call = ffi.callback("void(const int32_t *, int32_t, int32_t, int32_t *)", verify)
    out, n_out = ffi.new("int32_t[17]"), ffi.new("int32_t *")
    answer, pos, last, sizes = [], len(PROMPT) - 1, PROMPT[-1], set()
    with binding.Speculative(target, draft, strategies="draft-simple", n_draft_max=8) as spec:
        llama.decode(context, PROMPT[:-1], 0)
        spec.process(PROMPT[:-1], pos=range(pos))
        spec.begin(0, PROMPT[:-1])
        raw = ffi.cast("void *", int(spec._library.ffi.cast("uintptr_t", spec._handle)))
        while len(answer) < 100:
            assert lib.one_round(raw, pos, last, 8, call, out, n_out) == 0, spec._message()
            answer += list(out[0 : n_out[0]])
            sizes.add(n_out[0])
            pos, last = pos + n_out[0], answer[-1]
            llama.lib.helper_seq_rm(context, 0, pos, -1)
        assert lib.one_round(raw, pos, last, 257, call, out, n_out) == binding.Status.ERROR_INVALID_ARGUMENT
    assert answer == run(NEXT, NEXT[PROMPT[-1]], len(answer))
    assert len(sizes) > 1, "no draft was ever rejected, or none accepted"


def test_the_set_up_for_llamadart_makes_both_and_leaves_the_context_to_the_caller(
    page: Any, llama: Any, models: dict[str, Path]
) -> None:
    ffi, lib = page(
        "llamadart",
        "int32_t set_up(void *, void *, const char *, void **, void **); void llama_speculative_free(void *);",
    )
    models_ = [llama.model(models[name]) for name in ("target-llama", "draft-llama")]
    for strategies, has_context in (("draft-simple", True), ("ngram-simple", False)):
        context = llama.context(models_[0])
        made, spec = ffi.new("void **"), ffi.new("void **")
        address, draft = (ffi.cast("void *", int(llama.ffi.cast("uintptr_t", it))) for it in (context, models_[1]))
        assert lib.set_up(address, draft if has_context else ffi.NULL, strategies.encode(), made, spec) == 0
        assert spec[0] != ffi.NULL and (made[0] != ffi.NULL) == has_context
        lib.llama_speculative_free(spec[0])
        if has_context:
            llama.lib.llama_free(llama.ffi.cast("struct llama_context *", int(ffi.cast("uintptr_t", made[0]))))
        llama.lib.llama_free(context)
