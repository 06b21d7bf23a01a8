// What get_state() takes out of the MTP driver, set_state() puts back

#include "common.h"
#include "ggml-cpp.h"
#include "gguf.h"
#include "llama-cpp.h"
#include "speculative.h"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#define CHECK(x)                                                     \
    do {                                                             \
        if (!(x)) {                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);  \
            exit(1);                                                 \
        }                                                            \
    } while (0)

static const int64_t N_EMBD  = 64;
static const int64_t N_FF    = 32;
static const int64_t N_VOCAB = 64;

// mimo2: one block and one MTP head, random weights
static void write_model(const char * path) {
    gguf_context_ptr gguf(gguf_init_empty());
    ggml_context_ptr ctx(ggml_init({ 4*1024*1024, nullptr, false }));

    gguf_set_val_str(gguf.get(), "general.architecture", "mimo2");
    gguf_set_val_str(gguf.get(), "tokenizer.ggml.model", "no_vocab");

    const std::vector<std::pair<const char *, uint32_t>> kv = {
        { "mimo2.vocab_size",                 (uint32_t) N_VOCAB },
        { "mimo2.context_length",             128                },
        { "mimo2.embedding_length",           (uint32_t) N_EMBD  },
        { "mimo2.block_count",                2                  },
        { "mimo2.feed_forward_length",        (uint32_t) N_FF    },
        { "mimo2.expert_feed_forward_length", (uint32_t) N_FF    },
        { "mimo2.attention.head_count",       1                  },
        { "mimo2.attention.head_count_kv",    1                  },
        { "mimo2.attention.key_length",       (uint32_t) N_EMBD  },
        { "mimo2.attention.value_length",     (uint32_t) N_EMBD  },
        { "mimo2.attention.sliding_window",   128                },
        { "mimo2.rope.dimension_count",       (uint32_t) N_EMBD  },
        { "mimo2.nextn_predict_layers",       1                  },
    };
    for (const auto & it : kv) {
        gguf_set_val_u32(gguf.get(), it.first, it.second);
    }
    gguf_set_val_f32(gguf.get(), "mimo2.attention.layer_norm_rms_epsilon", 1e-6f);

    const int8_t pattern[2] = { 0, 1 };
    gguf_set_arr_data(gguf.get(), "mimo2.attention.sliding_window_pattern", GGUF_TYPE_BOOL, pattern, 2);

    std::mt19937 rng(42);
    std::normal_distribution<float> dist(0.0f, 0.3f);

    auto add = [&](const std::string & name, int64_t ne0, int64_t ne1) {
        ggml_tensor * t = ne1 > 0 ? ggml_new_tensor_2d(ctx.get(), GGML_TYPE_F32, ne0, ne1) : ggml_new_tensor_1d(ctx.get(), GGML_TYPE_F32, ne0);
        ggml_set_name(t, (name + ".weight").c_str());
        for (int64_t i = 0; i < ggml_nelements(t); ++i) {
            ((float *) t->data)[i] = ne1 > 0 ? dist(rng) : 1.0f;
        }
        gguf_add_tensor(gguf.get(), t);
    };

    add("token_embd",  N_EMBD, N_VOCAB);
    add("output",      N_EMBD, N_VOCAB);
    add("output_norm", N_EMBD, 0);
    for (int il = 0; il < 2; ++il) {
        const std::string blk = "blk." + std::to_string(il) + ".";
        add(blk + "attn_norm",   N_EMBD, 0);
        add(blk + "attn_qkv",    N_EMBD, 3*N_EMBD);
        add(blk + "attn_output", N_EMBD, N_EMBD);
        add(blk + "ffn_norm",    N_EMBD, 0);
        add(blk + "ffn_gate",    N_EMBD, N_FF);
        add(blk + "ffn_up",      N_EMBD, N_FF);
        add(blk + "ffn_down",    N_FF,   N_EMBD);
    }
    add("blk.1.nextn.eh_proj",          2*N_EMBD, N_EMBD);
    add("blk.1.nextn.enorm",            N_EMBD,   0);
    add("blk.1.nextn.hnorm",            N_EMBD,   0);
    add("blk.1.nextn.shared_head_head", N_EMBD,   N_VOCAB);
    add("blk.1.nextn.shared_head_norm", N_EMBD,   0);

    CHECK(gguf_write_to_file(gguf.get(), path, false));
}

static void decode(llama_context * ctx, common_speculative * spec, const llama_tokens & tokens, llama_pos pos, llama_seq_id seq_id) {
    common_batch batch(ctx);
    for (llama_token id : tokens) {
        batch.add(id, pos++, seq_id, true);
    }
    CHECK(llama_process(ctx, LLAMA_PROCESS_TYPE_DECODE, batch.get()) == 0);
    CHECK(common_speculative_process(spec, batch));
}

static llama_tokens draft(llama_context * ctx_dft, common_speculative * spec, const llama_tokens & prompt, llama_token id_last, llama_seq_id seq_id) {
    llama_tokens result;
    const llama_pos pos0 = (llama_pos) prompt.size();
    common_speculative_get_draft_params(spec, seq_id) = { true, 1, pos0, id_last, &prompt, &result };
    common_speculative_draft(spec);
    llama_memory_seq_rm(llama_get_memory(ctx_dft), seq_id, pos0, -1);
    return result;
}

int main() {
    const char * path = "test-speculative-state.gguf";
    write_model(path);

    llama_backend_init();

    auto mparams = llama_model_default_params();
    mparams.load_mtp     = true;
    mparams.n_gpu_layers = 0;
    llama_model_ptr model(llama_model_load_from_file(path, mparams));
    CHECK(model);

    auto cparams = llama_context_default_params();
    cparams.n_ctx     = 128;
    cparams.n_batch   = 32;
    cparams.n_ubatch  = 32;
    cparams.n_seq_max = 2;
    cparams.n_threads = 1;
    cparams.n_threads_batch = 1;
    llama_context_ptr ctx_tgt(llama_init_from_model(model.get(), cparams));
    CHECK(ctx_tgt);

    cparams.ctx_type      = LLAMA_CONTEXT_TYPE_MTP;
    cparams.ctx_other     = ctx_tgt.get();
    cparams.n_outputs_max = 2;
    cparams.n_outputs_max_per_seq = 1;
    llama_context_ptr ctx_dft(llama_init_from_model(model.get(), cparams));
    CHECK(ctx_dft);

    common_params_speculative params;
    params.types         = { COMMON_SPECULATIVE_TYPE_DRAFT_MTP };
    params.draft.n_max   = 1;
    params.draft.ctx_tgt = ctx_tgt.get();
    params.draft.ctx_dft = ctx_dft.get();
    common_speculative_ptr spec(common_speculative_init(params, 2));
    CHECK(spec);

    const llama_tokens prompt = { 10, 11, 12, 13, 14, 15, 16, 17 };
    decode(ctx_tgt.get(), spec.get(), prompt, 0, 1);
    common_speculative_begin(spec.get(), 1, prompt);

    // one hidden row per sequence
    std::vector<uint8_t> state, other;
    CHECK(common_speculative_get_state(spec.get(), 1, state));
    CHECK(state.size() == (size_t) llama_model_n_embd_out(model.get())*sizeof(float));
    CHECK(common_speculative_get_state(spec.get(), 0, other));
    CHECK(other != state);
    CHECK(other == std::vector<uint8_t>(other.size(), 0));

    const llama_tokens drafted = draft(ctx_dft.get(), spec.get(), prompt, 20, 1);
    CHECK(drafted.size() == 1);

    // go on, then go back
    decode(ctx_tgt.get(), spec.get(), { 20, 21 }, 8, 1);
    CHECK(common_speculative_get_state(spec.get(), 1, other));
    CHECK(other != state);
    for (llama_context * ctx : { ctx_tgt.get(), ctx_dft.get() }) {
        CHECK(llama_memory_seq_rm(llama_get_memory(ctx), 1, 8, -1));
    }
    common_speculative_set_state(spec.get(), 1, state);
    CHECK(common_speculative_get_state(spec.get(), 1, other));
    CHECK(other == state);
    CHECK(draft(ctx_dft.get(), spec.get(), prompt, 20, 1) == drafted);

    // a state of another size and a sequence that is not there change nothing
    state.pop_back();
    common_speculative_set_state(spec.get(), 1, state);
    common_speculative_set_state(spec.get(), 2, other);
    CHECK(common_speculative_get_state(spec.get(), 1, state));
    CHECK(state == other);
    CHECK(!common_speculative_get_state(spec.get(), 2, state));

    spec.reset();
    remove(path);
    printf("OK\n");
    return 0;
}
