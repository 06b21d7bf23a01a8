#include "driver_access.h"

#include "barrier.h"

#include "speculative.cpp" // upstream's implementation, for its private members

#include "../src/llama-context.h"
#include "../src/llama-model.h"

namespace spb::driver {

using mtp          = common_speculative_impl_draft_mtp;
using eagle3       = common_speculative_impl_draft_eagle3;
using ngram_map    = common_speculative_impl_ngram_map_k;
using ngram_mod    = common_speculative_impl_ngram_mod;
using ngram_cache  = common_speculative_impl_ngram_cache;

template <class T> static T * as(common_speculative_impl & impl) {
    return dynamic_cast<T *>(&impl);
}

static bool is_ngram(common_speculative_type type) {
    switch (type) {
        case COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE:
        case COMMON_SPECULATIVE_TYPE_NGRAM_MAP_K:
        case COMMON_SPECULATIVE_TYPE_NGRAM_MAP_K4V:
        case COMMON_SPECULATIVE_TYPE_NGRAM_MOD:
        case COMMON_SPECULATIVE_TYPE_NGRAM_CACHE:
            return true;
        default:
            return false;
    }
}

void deleter::operator()(common_speculative * cs) const {
    common_speculative_free(cs);
}

handle create(common_params_speculative & params, uint32_t n_seq) {
    return handle(common_speculative_init(params, n_seq));
}

std::vector<common_speculative_type> types(const common_speculative * cs) {
    std::vector<common_speculative_type> out;
    for (const auto & impl : cs->impls) {
        out.push_back(impl->type);
    }
    return out;
}

void begin(common_speculative * cs, int32_t seq, const llama_tokens & history) {
    common_speculative_begin(cs, seq, history);
}

bool process(common_speculative * cs, const common_batch & batch) {
    return common_speculative_process(cs, batch);
}

// ngram-cache reads as many tokens back as its longest key has, without looking whether they are there.
static bool may_draft(common_speculative_impl & impl, const common_speculative_draft_params & dp) {
    return !as<ngram_cache>(impl) || dp.prompt->size() + 1 >= LLAMA_NGRAM_MAX;
}

// Upstream's own chain, except that a strategy is not asked where it would read beyond the history.
void draft(common_speculative * cs, const std::vector<request> & requests) {
    for (const request & r : requests) {
        cs->impl_last[r.seq] = nullptr; // else an empty draft would be booked on the strategy of an earlier round
    }
    for (auto & impl : cs->impls) {
        bool any = false;
        for (const request & r : requests) {
            auto & dp   = cs->dparams[r.seq];
            dp          = {cs->impl_last[r.seq] == nullptr, r.n_max, r.pos0, r.id_last, r.history, r.draft};
            dp.drafting = dp.drafting && may_draft(*impl, dp);
            any |= dp.drafting;
        }
        auto * cache = as<ngram_cache>(*impl);
        if (cache) {
            for (const request & r : requests) {
                if (cache->sinfos[r.seq].cache_size == 0) {
                    r.lessons->clear();
                }
            }
        }
        if (any) {
            impl->draft(cs->dparams);
        }
        if (cache) {
            for (const request & r : requests) {
                const auto n = (int32_t) cache->sinfos[r.seq].cache_size;
                if (n > (r.lessons->empty() ? 0 : r.lessons->back())) {
                    r.lessons->push_back(n);
                }
            }
        }
        for (const request & r : requests) {
            auto & dp = cs->dparams[r.seq];
            if (dp.drafting && !r.draft->empty()) {
                r.draft->resize(std::min(r.draft->size(), (size_t) r.n_max));
                cs->impl_last[r.seq] = impl.get();
            }
            dp.drafting = false;
        }
    }
}

int32_t drafted_by(const common_speculative * cs, int32_t seq) {
    for (size_t i = 0; i < cs->impls.size(); ++i) {
        if (cs->impls[i].get() == cs->impl_last[seq]) {
            return (int32_t) i;
        }
    }
    return -1;
}

bool draft_reached(const common_speculative * cs, int32_t seq, llama_pos pos0) {
    for (const auto & impl : cs->impls) {
        llama_context * ctx = nullptr;
        if (auto * p = as<common_speculative_impl_draft_simple>(*impl)) {
            ctx = p->params.ctx_dft;
        } else if (auto * p = as<mtp>(*impl)) {
            ctx = p->is_mem_shared ? nullptr : p->params.ctx_dft;
        } else if (auto * p = as<common_speculative_impl_draft_dflash>(*impl)) {
            ctx = p->params.ctx_dft;
        } else if (auto * p = as<eagle3>(*impl)) {
            ctx = p->params.ctx_dft;
            pos0--; // it pairs a token with the position before it
        }
        if (ctx && llama_memory_seq_pos_max(llama_get_memory(ctx), seq) < pos0) {
            return false;
        }
    }
    return true;
}

void accept(common_speculative * cs, int32_t seq, int32_t n_hidden, int32_t n_verified) {
    common_speculative_impl * last = cs->impl_last[seq];
    for (auto & impl : cs->impls) {
        const bool ngram = is_ngram(impl->type);
        if (ngram && impl.get() != last) {
            continue; // it made no draft, so there is nothing for it to learn
        }
        impl->accept(seq, (uint16_t) (ngram ? n_verified : n_hidden), impl.get() != last);
    }
    cs->impl_last[seq] = nullptr;
}

static void forget_rows(common_speculative * cs, int32_t seq) {
    for (auto & impl : cs->impls) {
        if (auto * p = as<mtp>(*impl)) {
            std::fill(p->pending_h[seq].begin(), p->pending_h[seq].end(), 0.0f);
            p->verify_h_rows[seq] = 0;
        } else if (auto * p = as<eagle3>(*impl)) {
            std::fill(p->pending_g_last[seq].begin(), p->pending_g_last[seq].end(), 0.0f);
            p->pending_pos_last[seq] = -1;
            p->verify_g_rows[seq]    = 0;
        }
    }
}

void forget_history(common_speculative * cs, int32_t seq) {
    cs->impl_last[seq] = nullptr;
    for (auto & impl : cs->impls) {
        if (auto * p = as<ngram_map>(*impl)) {
            const common_ngram_map & old = p->config[seq];
            p->config[seq]               = common_ngram_map(old.size_key, old.size_value, old.key_only, old.min_hits);
        } else if (auto * p = as<ngram_mod>(*impl)) {
            p->sinfos[seq] = {};
        } else if (auto * p = as<ngram_cache>(*impl)) {
            p->sinfos[seq].cache_size = 0;
            p->sinfos[seq].ngram_cache_context.clear();
        }
    }
}

bool has_lessons(const common_speculative * cs, int32_t seq) {
    for (const auto & impl : cs->impls) {
        if (auto * p = as<ngram_cache>(*impl)) {
            return p->sinfos[seq].cache_size > 0;
        }
    }
    return false;
}

void teach(common_speculative * cs, int32_t seq, const llama_tokens & tokens, const std::vector<int32_t> & lessons) {
    for (auto & impl : cs->impls) {
        if (auto * p = as<ngram_cache>(*impl)) {
            auto & info = p->sinfos[seq];
            for (const int32_t end : lessons) {
                llama_tokens lesson(tokens.begin() + (ptrdiff_t) info.cache_size, tokens.begin() + end);
                common_ngram_cache_update(info.ngram_cache_context, LLAMA_NGRAM_MIN, LLAMA_NGRAM_MAX, lesson, (int) lesson.size(), false);
                info.cache_size = (size_t) end;
            }
        }
    }
}

void forget(common_speculative * cs, int32_t seq) {
    forget_rows(cs, seq);
    forget_history(cs, seq);
}

bool has_boundary(const common_speculative * cs) {
    for (const auto & impl : cs->impls) {
        if (impl->type == COMMON_SPECULATIVE_TYPE_DRAFT_MTP || impl->type == COMMON_SPECULATIVE_TYPE_DRAFT_EAGLE3) {
            return true;
        }
    }
    return false;
}

bool refresh_boundary(common_speculative * cs, const common_batch & batch) {
    const int32_t seq = batch.tokens[0].seq_id;
    for (auto & impl : cs->impls) {
        if (auto * p = as<mtp>(*impl)) {
            const float * row = llama_get_embeddings_nextn_ith(p->params.ctx_tgt, 0);
            if (!row) {
                return false;
            }
            p->pending_h[seq].assign(row, row + p->n_embd);
            p->verify_h_rows[seq] = 0;
        } else if (auto * p = as<eagle3>(*impl)) {
            // the pair before this token is in the draft's memory; one at its own position was made with another token
            llama_memory_seq_rm(llama_get_memory(p->params.ctx_dft), seq, batch.tokens[0].pos[0], -1);
            p->pending_pos_last[seq] = -1;
            if (!p->process(batch)) {
                return false;
            }
        }
    }
    return true;
}

void copy(common_speculative * cs, int32_t src, int32_t dst) {
    cs->impl_last[dst] = nullptr;
    for (auto & impl : cs->impls) {
        if (auto * p = as<mtp>(*impl)) {
            p->pending_h[dst]     = p->pending_h[src];
            p->verify_h[dst]      = p->verify_h[src];
            p->verify_h_rows[dst] = p->verify_h_rows[src];
        } else if (auto * p = as<eagle3>(*impl)) {
            p->pending_g_last[dst]   = p->pending_g_last[src];
            p->pending_pos_last[dst] = p->pending_pos_last[src];
            p->verify_g[dst]         = p->verify_g[src];
            p->verify_pos_first[dst] = p->verify_pos_first[src];
            p->verify_g_rows[dst]    = p->verify_g_rows[src];
        } else if (auto * p = as<ngram_map>(*impl)) {
            p->config[dst] = p->config[src];
        } else if (auto * p = as<ngram_mod>(*impl)) {
            p->sinfos[dst] = p->sinfos[src];
        } else if (auto * p = as<ngram_cache>(*impl)) {
            p->sinfos[dst] = p->sinfos[src];
        }
    }
}

template <class T> static void put(std::vector<uint8_t> & out, const T * data, size_t n) {
    const auto * bytes = reinterpret_cast<const uint8_t *>(data);
    out.insert(out.end(), bytes, bytes + n * sizeof(T));
}

void save_boundary(const common_speculative * cs, int32_t seq, std::vector<uint8_t> & out) {
    for (const auto & impl : cs->impls) {
        if (auto * p = as<mtp>(*impl)) {
            put(out, p->pending_h[seq].data(), p->pending_h[seq].size());
        } else if (auto * p = as<eagle3>(*impl)) {
            put(out, &p->pending_pos_last[seq], 1);
            put(out, p->pending_g_last[seq].data(), p->pending_g_last[seq].size());
        }
    }
}

bool load_boundary(common_speculative * cs, int32_t seq, const uint8_t * data, size_t size) {
    size_t at = 0;
    auto   get = [&](void * to, size_t n) {
        if (at + n > size) {
            return false;
        }
        std::memcpy(to, data + at, n);
        at += n;
        return true;
    };
    for (auto & impl : cs->impls) {
        if (auto * p = as<mtp>(*impl)) {
            p->verify_h_rows[seq] = 0;
            if (!get(p->pending_h[seq].data(), p->pending_h[seq].size() * sizeof(float))) {
                return false;
            }
        } else if (auto * p = as<eagle3>(*impl)) {
            p->verify_g_rows[seq] = 0;
            if (!get(&p->pending_pos_last[seq], sizeof(llama_pos)) ||
                !get(p->pending_g_last[seq].data(), p->pending_g_last[seq].size() * sizeof(float))) {
                return false;
            }
        }
    }
    return at == size;
}

int32_t n_outputs_max(const llama_context * ctx) {
    return (int32_t) ctx->get_cparams().n_outputs_max;
}

int32_t n_outputs_max_per_seq(const llama_context * ctx) {
    return (int32_t) ctx->get_cparams().n_outputs_max_per_seq;
}

bool kv_unified(const llama_context * ctx) {
    return ctx->get_cparams().kv_unified;
}

bool embeddings(const llama_context * ctx) {
    return ctx->get_cparams().embeddings;
}

bool shares_memory(llama_context * draft, const llama_context * target) {
    return context_type(draft) == LLAMA_CONTEXT_TYPE_MTP && llama_get_ctx_other(draft) == target;
}

std::string shared_memory_mismatch(const llama_model * target, const llama_model * heads) {
    if (heads->arch != LLM_ARCH_GEMMA4_ASSISTANT) {
        return {};
    }
    if (target->arch != LLM_ARCH_GEMMA4) {
        return format("they look into the memory of a 'gemma4' target, but this one is '%s'", architecture(target).c_str());
    }
    const llama_hparams & t = target->hparams;
    const llama_hparams & h = heads->hparams;
    for (uint32_t il = 0; il < h.n_layer_nextn; ++il) {
        const int32_t from = llama_model_n_layer(target) - (h.is_swa(il) ? 2 : 1); // upstream's rule
        if (from < 0 || t.is_swa(from) != h.is_swa(il)) {
            return format("head %u needs layer %d of the target to have %s sliding window", il, from, h.is_swa(il) ? "a" : "no");
        }
        if (t.n_embd_head_k(from) != h.n_embd_head_k(il)) {
            return format("head %u has keys of %u values, layer %d of the target of %u", il, h.n_embd_head_k(il), from, t.n_embd_head_k(from));
        }
    }
    return {};
}

llama_context_type context_type(const llama_context * ctx) {
    return ctx->get_cparams().ctx_type;
}

bool mtp_heads_loaded(const llama_model * model) {
    const uint32_t n_nextn = model->hparams.n_layer_nextn;
    if (n_nextn == 0 || model->layers.empty()) {
        return false;
    }
    // an assistant, which consists of heads alone, has one projection for all of them
    return model->layers.back().nextn.eh_proj != nullptr || model->nextn_proj_pre != nullptr;
}

std::string architecture(const llama_model * model) {
    char name[64] = {};
    llama_model_meta_val_str(model, "general.architecture", name, sizeof(name));
    return name;
}

std::vector<int32_t> target_layers(const llama_model * draft) {
    const int32_t * ids = llama_model_target_layer_ids(draft);
    return ids ? std::vector<int32_t>(ids, ids + llama_model_target_layer_ids_n(draft)) : std::vector<int32_t>();
}

bool has_markov_head(const llama_model * draft) {
    for (const auto & named : draft->tensors_by_name) {
        if (named.first == "markov_w1.weight") {
            return true;
        }
    }
    return false;
}

std::string vocabulary_mismatch(const llama_model * target, const llama_model * draft) {
    const llama_vocab * t = llama_model_get_vocab(target);
    const llama_vocab * d = llama_model_get_vocab(draft);
    if (llama_vocab_type(t) != llama_vocab_type(d)) {
        return spb::format("the tokenizer types differ (target %d, draft %d)", llama_vocab_type(t), llama_vocab_type(d));
    }
    const int32_t nt = llama_vocab_n_tokens(t);
    const int32_t nd = llama_vocab_n_tokens(d);
    if (std::abs(nt - nd) > SPEC_VOCAB_MAX_SIZE_DIFFERENCE) {
        return spb::format("the target has %d tokens and the draft %d; they may differ by %d", nt, nd, SPEC_VOCAB_MAX_SIZE_DIFFERENCE);
    }
    if (llama_vocab_get_add_bos(t) != llama_vocab_get_add_bos(d) || (llama_vocab_get_add_bos(t) && llama_vocab_bos(t) != llama_vocab_bos(d))) {
        return spb::format("the begin-of-sequence tokens differ (target %d, draft %d)", llama_vocab_bos(t), llama_vocab_bos(d));
    }
    if (llama_vocab_get_add_eos(t) != llama_vocab_get_add_eos(d) || (llama_vocab_get_add_eos(t) && llama_vocab_eos(t) != llama_vocab_eos(d))) {
        return spb::format("the end-of-sequence tokens differ (target %d, draft %d)", llama_vocab_eos(t), llama_vocab_eos(d));
    }
    for (int32_t id = SPEC_VOCAB_CHECK_START_TOKEN_ID; id < std::min(nt, nd); ++id) {
        if (std::strcmp(llama_vocab_get_text(t, id), llama_vocab_get_text(d, id)) != 0) {
            return spb::format("token %d is '%s' in the target and '%s' in the draft", id, llama_vocab_get_text(t, id), llama_vocab_get_text(d, id));
        }
    }
    return {};
}

void set_hidden_rows(llama_context * ctx, bool on, bool outputs_only) {
    llama_set_embeddings_nextn(ctx, on, outputs_only);
}

const float * hidden_row(llama_context * ctx, int32_t index) {
    return ctx->get_cparams().embeddings_nextn && llama_get_embeddings_nextn(ctx) ? llama_get_embeddings_nextn_ith(ctx, index) : nullptr;
}

void stop_extraction(llama_context * ctx) {
    llama_set_embeddings_nextn(ctx, false, false);
    const auto & layers = ctx->get_cparams().embeddings_layer_inp;
    for (uint32_t il = 0; il < layers.size(); ++il) {
        if (layers[il]) {
            llama_set_embeddings_layer_inp(ctx, il, false);
        }
    }
}

} // namespace spb::driver
