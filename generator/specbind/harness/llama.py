"""llama.h for tests, through a helper that is compiled against the llama.cpp under test."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

CDEF = """
struct llama_model; struct llama_context; struct llama_sampler;
struct helper_context_options {
    int32_t n_ctx, n_batch, n_ubatch, n_seq_max, n_rs_seq, n_outputs_max, n_outputs_max_per_seq;
    int32_t swa_full, kv_unified, embeddings, type_v_q8_0, flash_attn;
};
void helper_start(void);
struct llama_model * helper_model_load(const char * path, int32_t load_mtp);
struct llama_context * helper_context_new(struct llama_model * model, const struct helper_context_options * o);
struct llama_context * helper_special_context_new(struct llama_model * model, const struct helper_context_options * o,
                                                  struct llama_context * other, int32_t watched);
void helper_watch(int32_t (*call)(void *), void * argument, int64_t n_nodes);
int64_t helper_watched(void);
int32_t helper_decode(struct llama_context * ctx, int32_t n, int32_t * token, int32_t * pos, int32_t * seq, int8_t * output);
const float * helper_logits(struct llama_context * ctx, int32_t index);
int32_t helper_n_vocab(const struct llama_model * model);
int32_t helper_seq_rm(struct llama_context * ctx, int32_t seq, int32_t p0, int32_t p1);
struct llama_sampler * helper_chain(void);
void helper_add_greedy(struct llama_sampler * chain);
void helper_add_dist(struct llama_sampler * chain, uint32_t seed);
void helper_add_temp(struct llama_sampler * chain, float t);
void helper_add_top_k(struct llama_sampler * chain, int32_t k);
void helper_add_top_p(struct llama_sampler * chain, float p);
void helper_add_min_p(struct llama_sampler * chain, float p);
void helper_add_mirostat(struct llama_sampler * chain, int32_t n_vocab, uint32_t seed, float tau, float eta);
void helper_add_mirostat_v2(struct llama_sampler * chain, uint32_t seed, float tau, float eta);
int32_t helper_add_grammar(struct llama_sampler * chain, const struct llama_model * model, const char * text, const char * root);
void helper_add_penalties(struct llama_sampler * chain, int32_t n_vocab, int32_t last_n, float repeat, float freq, float present);
void helper_add_rogue(struct llama_sampler * chain, int32_t throws_at, int32_t cloneable);
int32_t helper_sample(struct llama_sampler * chain, struct llama_context * ctx, int32_t index);
void llama_free(struct llama_context * ctx);
void llama_model_free(struct llama_model * model);
void llama_sampler_free(struct llama_sampler * smpl);
"""

DEFAULTS = {"n_ctx": 512, "n_batch": 64, "n_ubatch": 64, "n_seq_max": 1, "n_rs_seq": 0, "n_outputs_max": 0,
            "n_outputs_max_per_seq": 1, "swa_full": 1, "kv_unified": 0, "embeddings": 0, "type_v_q8_0": 0, "flash_attn": -1}  # fmt: skip


class Llama:
    """The helper, loaded. `lib` has its functions, `ffi` its types, `path` is its file."""

    def __init__(self, lib_dir: Path, include_dirs: tuple[Path, ...], out: Path, compiler: str = "c++") -> None:
        from cffi import FFI

        source = Path(__file__).with_name("llama_helper.cpp")
        library = out / "libllama_helper.so"
        includes = [f"-I{d}" for d in include_dirs]
        subprocess.run(
            [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", *includes, str(source), "-o", str(library), f"-L{lib_dir}", "-lllama",
             "-lggml", "-lggml-base", f"-Wl,-rpath,{lib_dir}"],
            check=True,
        )  # fmt: skip
        self.path = library  # for bindings of other languages
        self.ffi = FFI()
        self.ffi.cdef(CDEF)
        lib: Any = self.ffi.dlopen(str(library))
        self.lib = lib
        self.lib.helper_start()

    def model(self, path: Path, *, load_mtp: bool = False) -> Any:
        """A model; freed with it."""
        model = self.lib.helper_model_load(str(path).encode(), int(load_mtp))
        assert model != self.ffi.NULL, f"{path} does not load"
        return self.ffi.gc(model, self.lib.llama_model_free)

    def context(self, model: Any, other: Any = None, *, watched: bool = False, **options: int) -> Any:
        """A context with DEFAULTS and `options`; `other` is the target of a draft context, `watched` lets helper_watch count it. The caller frees it with `lib.llama_free`, in the right order."""
        given = self.ffi.new("struct helper_context_options *", {**DEFAULTS, **options})
        context = self.lib.helper_special_context_new(model, given, other or self.ffi.NULL, int(watched))
        assert context != self.ffi.NULL, f"no context with {options}"
        return context

    def decode(self, context: Any, tokens: list[int], pos: int, *, seq: int = 0, output: bool = True) -> None:
        n = len(tokens)
        status = self.lib.helper_decode(context, n, tokens, list(range(pos, pos + n)), [seq] * n, [int(output)] * n)
        assert status == 0, f"llama_decode returned {status}"

    def argmax(self, context: Any, index: int, n_vocab: int) -> int:
        row = self.lib.helper_logits(context, index)
        return max(range(n_vocab), key=lambda i: row[i])

    def chain(self, *samplers: tuple[Any, ...]) -> Any:
        """A sampler chain from ("temp", 0.8), ("dist", 7), ...; freed with it."""
        chain = self.ffi.gc(self.lib.helper_chain(), self.lib.llama_sampler_free)
        for name, *arguments in samplers:
            getattr(self.lib, f"helper_add_{name}")(chain, *arguments)
        return chain
