// What tests need of llama.h, as flat functions that cffi can call without knowing any of llama.cpp's structs.
//
// Those structs move between commits; this file is compiled against the header of the libllama under test, so the
// harness stays right whatever the commit. Samplers that misbehave on purpose live here too, since only C++ can throw.

#include "llama.h"

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <vector>

#define HELPER extern "C" __attribute__((visibility("default")))

// --- models and contexts ---------------------------------------------------------------------------------------------

struct helper_context_options {
    int32_t n_ctx, n_batch, n_ubatch, n_seq_max, n_rs_seq, n_outputs_max, n_outputs_max_per_seq;
    int32_t swa_full, kv_unified, embeddings, type_v_q8_0, flash_attn; // embeddings: pooled ones; flash_attn: -1 auto, 0 off, 1 on
};

HELPER void helper_start(void) {
    llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    llama_backend_init();
}

HELPER llama_model * helper_model_load(const char * path, int32_t load_mtp) {
    llama_model_params params = llama_model_default_params();
    params.n_gpu_layers       = 0;
    params.load_mtp           = load_mtp != 0;
    return llama_model_load_from_file(path, params);
}

// Calls a function in the middle of an evaluation, as another thread might: at the n-th graph node that any watched context
// comes to.
static struct {
    int32_t (*call)(void *) = nullptr;
    void *  argument        = nullptr;
    int64_t n_left          = -1;
    int64_t n_seen          = 0;
} watch;

HELPER void helper_watch(int32_t (*call)(void *), void * argument, int64_t n_nodes) {
    watch = {call, argument, n_nodes, 0};
}

HELPER int64_t helper_watched(void) { return watch.n_seen; }

static bool on_node(ggml_tensor *, bool ask, void *) {
    ++watch.n_seen;
    if (ask && watch.call && watch.n_left-- == 0) {
        watch.call(watch.argument);
    }
    return false;
}

static llama_context * new_context(llama_model * model, const helper_context_options * o, llama_context * other, bool watched) {
    llama_context_params params  = llama_context_default_params();
    params.n_ctx                 = (uint32_t) o->n_ctx;
    params.n_batch               = (uint32_t) o->n_batch;
    params.n_ubatch              = (uint32_t) o->n_ubatch;
    params.n_seq_max             = (uint32_t) o->n_seq_max;
    params.n_rs_seq              = (uint32_t) o->n_rs_seq;
    params.n_outputs_max         = (uint32_t) o->n_outputs_max;
    params.n_outputs_max_per_seq = (uint32_t) o->n_outputs_max_per_seq;
    params.n_threads             = 1;
    params.n_threads_batch       = 1;
    params.swa_full              = o->swa_full != 0;
    params.kv_unified            = o->kv_unified != 0;
    params.embeddings            = o->embeddings != 0;
    params.ctx_other             = other;
    params.flash_attn_type       = (llama_flash_attn_type) o->flash_attn;
    if (o->type_v_q8_0) {
        params.type_v = GGML_TYPE_Q8_0;
    }
    if (watched) {
        params.cb_eval = on_node;
    }
    if (o->embeddings) {
        params.pooling_type = LLAMA_POOLING_TYPE_MEAN;
    }
    return llama_init_from_model(model, params);
}

HELPER llama_context * helper_context_new(llama_model * model, const helper_context_options * o) {
    return new_context(model, o, nullptr, false);
}

// A context that reads from `other`, its target, and whose graph nodes helper_watch counts if `watched`.
HELPER llama_context * helper_special_context_new(llama_model * model, const helper_context_options * o, llama_context * other, int32_t watched) {
    return new_context(model, o, other, watched != 0);
}

HELPER int32_t helper_n_vocab(const llama_model * model) {
    return llama_vocab_n_tokens(llama_model_get_vocab(model));
}

HELPER int32_t helper_n_ctx_seq(const llama_context * ctx) {
    return (int32_t) llama_n_ctx_seq(ctx);
}

// --- decoding --------------------------------------------------------------------------------------------------------

HELPER int32_t helper_decode(llama_context * ctx, int32_t n, int32_t * token, int32_t * pos, int32_t * seq, int8_t * output) {
    std::vector<int32_t>   n_seq((size_t) n, 1);
    std::vector<int32_t *> seqs((size_t) n);
    for (int32_t i = 0; i < n; ++i) {
        seqs[(size_t) i] = seq + i;
    }
    llama_batch batch{};
    batch.n_tokens = n;
    batch.token    = token;
    batch.pos      = pos;
    batch.n_seq_id = n_seq.data();
    batch.seq_id   = seqs.data();
    batch.logits   = output;
    return llama_decode(ctx, batch);
}

HELPER const float * helper_logits(llama_context * ctx, int32_t index) {
    return llama_get_logits_ith(ctx, index);
}

HELPER int32_t helper_seq_rm(llama_context * ctx, int32_t seq, int32_t p0, int32_t p1) {
    return llama_memory_seq_rm(llama_get_memory(ctx), seq, p0, p1);
}

HELPER int32_t helper_seq_pos_max(llama_context * ctx, int32_t seq) {
    return llama_memory_seq_pos_max(llama_get_memory(ctx), seq);
}

// --- samplers --------------------------------------------------------------------------------------------------------

HELPER llama_sampler * helper_chain(void) {
    return llama_sampler_chain_init(llama_sampler_chain_default_params());
}

HELPER void helper_add_greedy(llama_sampler * chain) { llama_sampler_chain_add(chain, llama_sampler_init_greedy()); }

HELPER void helper_add_dist(llama_sampler * chain, uint32_t seed) { llama_sampler_chain_add(chain, llama_sampler_init_dist(seed)); }

HELPER void helper_add_temp(llama_sampler * chain, float t) { llama_sampler_chain_add(chain, llama_sampler_init_temp(t)); }

HELPER void helper_add_top_k(llama_sampler * chain, int32_t k) { llama_sampler_chain_add(chain, llama_sampler_init_top_k(k)); }

HELPER void helper_add_top_p(llama_sampler * chain, float p) { llama_sampler_chain_add(chain, llama_sampler_init_top_p(p, 1)); }

HELPER void helper_add_min_p(llama_sampler * chain, float p) { llama_sampler_chain_add(chain, llama_sampler_init_min_p(p, 1)); }

HELPER void helper_add_mirostat(llama_sampler * chain, int32_t n_vocab, uint32_t seed, float tau, float eta) {
    llama_sampler_chain_add(chain, llama_sampler_init_mirostat(n_vocab, seed, tau, eta, 100));
}

HELPER void helper_add_mirostat_v2(llama_sampler * chain, uint32_t seed, float tau, float eta) {
    llama_sampler_chain_add(chain, llama_sampler_init_mirostat_v2(seed, tau, eta));
}

// 0 if the grammar does not parse.
HELPER int32_t helper_add_grammar(llama_sampler * chain, const llama_model * model, const char * text, const char * root) {
    llama_sampler * grammar = llama_sampler_init_grammar(llama_model_get_vocab(model), text, root);
    if (grammar) {
        llama_sampler_chain_add(chain, grammar);
    }
    return grammar != nullptr;
}

// The number of parameters has changed between commits.
template <class F> static llama_sampler * make_penalties(F init, int32_t n_vocab, int32_t last_n, float repeat, float freq, float present) {
    if constexpr (std::is_invocable_v<F, int32_t, int32_t, float, float, float>) {
        return init(n_vocab, last_n, repeat, freq, present);
    } else {
        return init(last_n, repeat, freq, present);
    }
}

HELPER void helper_add_penalties(llama_sampler * chain, int32_t n_vocab, int32_t last_n, float repeat, float freq, float present) {
    llama_sampler_chain_add(chain, make_penalties(&llama_sampler_init_penalties, n_vocab, last_n, repeat, freq, present));
}

// Samples from the row of output `index` and accepts the token: plain decoding's own way.
HELPER int32_t helper_sample(llama_sampler * chain, llama_context * ctx, int32_t index) {
    return llama_sampler_sample(chain, ctx, index);
}

// A sampler that selects greedily and does what it should not: throws at its n-th token, or cannot be cloned.
struct rogue {
    int32_t throws_at; // -1: never
    int32_t cloneable;
    int32_t n_applied = 0;
};

static llama_sampler * rogue_new(const rogue & state);

static llama_sampler_i rogue_interface() {
    llama_sampler_i iface{};
    iface.name   = [](const llama_sampler *) { return "rogue"; };
    iface.accept = [](llama_sampler *, llama_token) {};
    iface.reset  = [](llama_sampler * s) { ((rogue *) s->ctx)->n_applied = 0; };
    iface.free   = [](llama_sampler * s) { delete (rogue *) s->ctx; };
    iface.apply  = [](llama_sampler * s, llama_token_data_array * candidates) {
        rogue * self = (rogue *) s->ctx;
        if (self->n_applied++ == self->throws_at) {
            throw std::runtime_error("the sampler threw on purpose");
        }
        candidates->selected = 0;
        for (size_t i = 1; i < candidates->size; ++i) {
            if (candidates->data[i].logit > candidates->data[candidates->selected].logit) {
                candidates->selected = (int64_t) i;
            }
        }
    };
    iface.clone = [](const llama_sampler * s) -> llama_sampler * {
        const rogue * self = (const rogue *) s->ctx;
        return self->cloneable ? rogue_new(*self) : nullptr;
    };
    return iface;
}

static llama_sampler * rogue_new(const rogue & state) {
    static llama_sampler_i with_clone    = rogue_interface();
    static llama_sampler_i without_clone = [] {
        llama_sampler_i iface = rogue_interface();
        iface.clone           = nullptr;
        return iface;
    }();
    return llama_sampler_init(state.cloneable ? &with_clone : &without_clone, new rogue(state));
}

HELPER void helper_add_rogue(llama_sampler * chain, int32_t throws_at, int32_t cloneable) {
    llama_sampler_chain_add(chain, rogue_new(rogue{throws_at, cloneable}));
}
