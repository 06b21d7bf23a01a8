"""The series: what each patch changes, and beside which lines of the tree.

Each step builds and passes the tree's tests without the ones after it. The lines it holds on to are anchors: in another
tree `edits` says which of them is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from specbind.propose.driver import Driver
from specbind.propose.edits import Create, Edit, Insert, Replace, Wrap

TEMPLATES = Path(__file__).parent / "templates" / "tree"
FOLDER = "tools/speculative"
EXAMPLE = "examples/speculative-c"


@dataclass(frozen=True)
class Step:
    """One patch: subject as llama.cpp writes them, what a reviewer has to know, the edits.

    `targets` are built and `runs` run to see that it holds, with `options` of CMake; `library` is the one that has the ABI
    then, if there is one.
    """

    subject: str
    body: str
    edits: Sequence[Edit]
    targets: tuple[str, ...]
    runs: tuple[str, ...]
    options: tuple[str, ...] = ()
    library: str = ""


def fixed(name: str) -> str:
    """A file that does not depend on the spec."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def hidden_rows() -> Step:
    return Step(
        "llama : C linkage for the hidden row functions",
        "The staging functions that MTP needs have C++ names, so that only C++ of the same compiler can call them.\n"
        "tests/test-c.c links them from C.",
        [
            Wrap(
                "src/llama-ext.h",
                "// Set whether the context outputs nextn embeddings or not\n",
                "LLAMA_API llama_context * llama_get_ctx_other(struct llama_context * ctx);\n",
                '// these link from C as well\nextern "C" {\n\n',
                '\n} // extern "C"\n',
            ),
            Replace("tests/test-c.c", '#include "llama.h"\n\nint main(void) {}\n', LINKS_FROM_C),
        ],
        ("llama", "test-c"),
        ("test-c",),
    )


LINKS_FROM_C = """#include "llama.h"

// declared in src/llama-ext.h, which is C++
void    llama_set_embeddings_nextn(struct llama_context * ctx, bool value, bool masked);
float * llama_get_embeddings_nextn(struct llama_context * ctx);
float * llama_get_embeddings_nextn_ith(struct llama_context * ctx, int32_t i);
void    llama_set_nextn_layer_offset(struct llama_context * ctx, int32_t offset);

void    (*volatile set_nextn)     (struct llama_context *, bool, bool) = llama_set_embeddings_nextn;
float * (*volatile get_nextn)     (struct llama_context *)             = llama_get_embeddings_nextn;
float * (*volatile get_nextn_ith) (struct llama_context *, int32_t)    = llama_get_embeddings_nextn_ith;
void    (*volatile set_offset)    (struct llama_context *, int32_t)    = llama_set_nextn_layer_offset;

int main(void) {
    return set_nextn && get_nextn && get_nextn_ith && set_offset ? 0 : 1;
}
"""


def mtp_state() -> Step:
    return Step(
        "speculative : get and set the state of MTP",
        "The MTP driver carries a hidden row of the target from one batch to the next. Without it a sequence that goes\n"
        "back to a checkpoint drafts from a row of other tokens. get_state and set_state do for it what they do for EAGLE-3.",
        [
            Insert("common/speculative.cpp", END_OF_MTP, MTP_STATE, after=True),
            Create("tests/test-speculative-state.cpp", fixed("test-speculative-state.cpp")),
            Insert(
                "tests/CMakeLists.txt",
                "llama_build_and_test(test-tiled-mulmat.cpp)\n",
                "llama_build_and_test(test-speculative-state.cpp)\n",
                after=True,
            ),
        ],
        ("test-speculative-state",),
        ("test-speculative-state",),
    )


END_OF_MTP = """        std::memcpy(pending_h[seq_id].data(), verify_h[seq_id].data() + (size_t) i_h * n_embd, row_bytes);
    }
"""
MTP_STATE = """
    // the row that waits for the first token of the next batch
    bool get_state(llama_seq_id seq_id, std::vector<uint8_t> & data) const override {
        if (seq_id < 0 || seq_id >= (llama_seq_id) n_seq) {
            return false;
        }

        const std::vector<float> & h = pending_h[seq_id];

        data.resize(h.size() * sizeof(float));
        std::memcpy(data.data(), h.data(), data.size());
        return true;
    }

    void set_state(llama_seq_id seq_id, const std::vector<uint8_t> & data) override {
        if (seq_id < 0 || seq_id >= (llama_seq_id) n_seq) {
            return;
        }
        if (data.size() != (size_t) n_embd * sizeof(float)) {
            return;
        }

        std::memcpy(pending_h[seq_id].data(), data.data(), data.size());
        verify_h_rows[seq_id] = 0;
    }
"""


def limits(driver: Driver) -> Step:
    return Step(
        "llama : read access to what speculative decoding depends on",
        "Limits and type of a context, the hidden row of an index or NULL, and what heads a model has: a caller who checks\n"
        "these can refuse what would abort later.",
        [
            Insert("src/llama-ext.h", "#include <map>\n", "#include <string>\n", after=True),
            Insert(
                "src/llama-ext.h",
                "LLAMA_API llama_context * llama_get_ctx_other(struct llama_context * ctx);\n",
                "\n" + driver.declarations["c"],
                after=True,
            ),
            Insert(
                "src/llama-ext.h",
                "// retrieves the whole token embedding matrix in F32 format (n_embd * n_vocab)\n",
                driver.declarations["c++"] + "\n",
            ),
            Insert(
                "src/llama-context.cpp",
                "llama_context * llama_get_ctx_other(struct llama_context * ctx) {\n    return ctx->get_cparams().ctx_other;\n}\n",
                "\n" + driver.definitions["context"],
                after=True,
            ),
            Insert(
                "src/llama-model.cpp",
                "uint32_t llama_model_target_layer_ids_n(const struct llama_model * model) {\n"
                "    return (uint32_t) model->target_layer_ids.size();\n}\n",
                "\n" + driver.definitions["model"],
                after=True,
            ),
        ],
        ("llama", "test-c", "test-speculative-state"),
        ("test-c", "test-speculative-state"),
    )


def per_sequence(driver: Driver) -> Step:
    return Step(
        "speculative : drive the implementations per sequence",
        "What a caller needs who truncates, copies, saves and restores sequences one by one: drafts for some of them, an\n"
        "accept that tells hidden rows from verified tokens, and forgetting, copying, saving of what each implementation knows.\n"
        "Nothing that exists changes.",
        [
            Insert("common/speculative.h", "// print statistics about the speculative decoding\n", PER_SEQUENCE + driver.declarations["common"] + "\n"),
            Insert(
                "common/speculative.cpp",
                "void common_speculative_print_stats(const common_speculative * spec) {\n",
                PER_SEQUENCE + driver.definitions["common"] + "\n",
            ),
        ],
        ("llama-common", "test-speculative-state"),
        ("test-speculative-state",),
    )


PER_SEQUENCE = "//\n// per sequence\n//\n\n"


def library(files: Sequence[tuple[str, str]]) -> Step:
    """`files`: names and texts of `tools/speculative`."""
    return Step(
        "llama-speculative : library with a C API",
        "Speculative decoding for programs that are not C++: a shared library beside libllama, as mtmd is one.\n"
        "It exports llama_speculative_* and nothing else, and does not link against llama-common.",
        [
            *(Create(f"{FOLDER}/{name}", text) for name, text in files),
            Insert(
                "CMakeLists.txt",
                'option(LLAMA_TOOLS_INSTALL "llama: install tools" ${LLAMA_TOOLS_INSTALL_DEFAULT})\n',
                'option(LLAMA_BUILD_SPECULATIVE "llama: build the libllama-speculative library" ${LLAMA_STANDALONE})\n\n',
            ),
            Insert(
                "CMakeLists.txt",
                "#\n# install\n#\n",
                "if (LLAMA_BUILD_SPECULATIVE)\n    add_subdirectory(tools/speculative)\nendif()\n\n",
            ),
            Create("tests/test-speculative-c-api.c", fixed("test-speculative-c-api.c")),
            Insert("tests/CMakeLists.txt", "# GGUF model data fetcher library for tests that need real model metadata\n", REGISTERED),
        ],
        ("speculative", "test-speculative-c-api"),
        ("test-speculative-c-api",),
    )


REGISTERED = """# libllama-speculative
if (LLAMA_BUILD_SPECULATIVE AND BUILD_SHARED_LIBS)
    add_executable(test-speculative-c-api test-speculative-c-api.c)
    target_link_libraries(test-speculative-c-api PRIVATE speculative)
    llama_test(test-speculative-c-api)
    llama_test(test-speculative-c-api NAME test-speculative-c-api-model LABEL "model" ARGS "${MODEL_DEST}")
    set_tests_properties(test-speculative-c-api-model PROPERTIES FIXTURES_REQUIRED test-download-model)
endif()

"""


def example(readme: str) -> Step:
    return Step(
        "llama-speculative : example and docs",
        "An example in C, the call order and the ownership of the API.",
        [
            Create(f"{FOLDER}/README.md", readme),
            Create(f"{EXAMPLE}/speculative-c.c", fixed("speculative-c.c")),
            Create(
                f"{EXAMPLE}/CMakeLists.txt",
                "set(TARGET llama-speculative-c)\nadd_executable(${TARGET} speculative-c.c)\ninstall(TARGETS ${TARGET} RUNTIME)\n"
                "target_link_libraries(${TARGET} PRIVATE speculative)\n",
            ),
            Insert(
                "examples/CMakeLists.txt",
                "    add_subdirectory(speculative-simple)\n",
                "    if (LLAMA_BUILD_SPECULATIVE AND BUILD_SHARED_LIBS)\n        add_subdirectory(speculative-c)\n    endif()\n",
                after=True,
            ),
            Insert(
                "docs/speculative.md",
                "## Benchmarking\n",
                "## From other languages\n\n`libllama-speculative` offers speculative decoding through a C API, with or without a loop of the caller's own.\n"
                "See [tools/speculative](../tools/speculative/README.md).\n\n",
            ),
        ],
        ("llama-speculative-c", "test-speculative-c-api"),
        ("test-speculative-c-api",),
        library="llama-speculative",
    )


def inside_llama() -> Step:
    return Step(
        "llama : export the C API of speculative decoding from libllama, as an option",
        "LLAMA_SPECULATIVE_IN_LLAMA=ON puts the objects of libllama-speculative into libllama too, for programs that ship one\n"
        "library. It is off: libllama then contains a part of common.",
        [
            Insert(
                f"{FOLDER}/CMakeLists.txt",
                "# the target is not called llama-speculative: an example program is\n",
                IN_LLAMA,
            ),
            Insert(
                "CMakeLists.txt",
                'option(LLAMA_TOOLS_INSTALL "llama: install tools" ${LLAMA_TOOLS_INSTALL_DEFAULT})\n',
                'option(LLAMA_SPECULATIVE_IN_LLAMA "llama: export the API of libllama-speculative from libllama too" OFF)\n\n',
            ),
        ],
        ("llama", "speculative", "test-speculative-c-api"),
        ("test-speculative-c-api",),
        ("LLAMA_SPECULATIVE_IN_LLAMA=ON",),
        library="llama",
    )


IN_LLAMA = """if (LLAMA_SPECULATIVE_IN_LLAMA)
    target_sources(llama PRIVATE $<TARGET_OBJECTS:speculative-objects>)
    if (APPLE)
        target_link_options(llama PRIVATE -Wl,-dead_strip)
    elseif (NOT WIN32)
        target_link_options(llama PRIVATE -Wl,--gc-sections)
    endif()
endif()

"""
