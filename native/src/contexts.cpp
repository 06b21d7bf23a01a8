// From models and params to a live object: what the contexts must be like, and refusing what upstream would abort on.
#include "detection.h"
#include "identity.h"
#include "impl.h"
#include "log_bridge.h"
#include "requirements.h"
#include "spec.h"

#include <algorithm>
#include <mutex>
#include <set>

namespace spb {

static std::mutex & claims_mutex() {
    static std::mutex m;
    return m;
}

static std::set<const llama_context *> & claims() {
    static std::set<const llama_context *> s;
    return s;
}

target_claim::target_claim(const llama_context * ctx) : ctx(ctx) {
    std::lock_guard<std::mutex> lock(claims_mutex());
    if (!claims().insert(ctx).second) {
        fail(abi::ERROR_BUSY, "another live spec uses this target context: free it first");
    }
}

target_claim::~target_claim() {
    std::lock_guard<std::mutex> lock(claims_mutex());
    claims().erase(ctx);
}

static void require_empty(const llama_context * ctx, const char * which) {
    llama_memory_t mem = llama_get_memory(ctx);
    for (int32_t seq = 0; seq < (int32_t) llama_n_seq_max(ctx); ++seq) {
        if (llama_memory_seq_pos_max(mem, seq) >= 0) {
            fail(abi::ERROR_CALL_ORDER, "the %s context already holds tokens of sequence %d: make the spec before the first decode, or clear its memory",
                 which, seq);
        }
    }
}

spec::spec(llama_context * ctx_tgt, llama_context * ctx_dft, const abi::params & p)
    : ctx_tgt(ctx_tgt), ctx_dft(ctx_dft), vocab(llama_model_get_vocab(llama_get_model(ctx_tgt))), n_vocab(llama_vocab_n_tokens(vocab)),
      n_seq((int32_t) llama_n_seq_max(ctx_tgt)), n_ctx_seq((int32_t) llama_n_ctx_seq(ctx_tgt)), batch(ctx_tgt) {
    const llama_model * model_tgt = llama_get_model(ctx_tgt);
    const llama_model * model_dft = ctx_dft && llama_get_model(ctx_dft) != model_tgt ? llama_get_model(ctx_dft) : nullptr;
    selection           selected  = select(p, model_tgt, model_dft);
    strategies                    = std::move(selected.strategies);
    reason                        = selected.reason;
    for (const strategy_info * info : strategies) {
        names += (names.empty() ? "" : ",") + std::string(info->name);
    }
    if (names.empty()) {
        names = "none";
    }
    const strategy_info * model = draft_strategy(strategies);
    if (!llama_get_memory(ctx_tgt)) {
        fail(abi::ERROR_UNSUPPORTED, "the target context has no memory (an embedding model?): there is nothing to decode step by step");
    }
    require_target_context(ctx_tgt, strategies, p);
    require_empty(ctx_tgt, "target");
    if (model) {
        require_draft_context(ctx_tgt, ctx_dft, *model, p);
        require_empty(ctx_dft, "draft");
    } else if (ctx_dft && p.n_draft_max > 0) { // a limit of 0 is plain decoding, whatever is given
        fail(abi::ERROR_INVALID_ARGUMENT, "ctx_dft is given, but none of the strategies '%s' uses a draft context: pass NULL", p.strategies);
    }
    target = context_memory(ctx_tgt);
    if (model && !driver::shares_memory(ctx_dft, ctx_tgt)) {
        draft = context_memory(ctx_dft);
    }
    seqs.resize(n_seq);
    for (sequence & q : seqs) {
        q.history.reserve((size_t) n_ctx_seq); // rounds do not allocate
        q.lessons.reserve((size_t) n_ctx_seq + 1);
    }

    claim = std::make_unique<target_claim>(ctx_tgt);
    try {
        common_params_speculative up = to_upstream(strategies, p);
        up.draft.ctx_tgt             = ctx_tgt;
        up.draft.ctx_dft             = model ? ctx_dft : nullptr;
        if (model && model->type == COMMON_SPECULATIVE_TYPE_DRAFT_EAGLE3 && n_seq > 1 && up.draft.backend_sampling) {
            up.draft.backend_sampling = false; // upstream mixes up the sequences' rows here, and aborts at four
            log(abi::LOG_INFO, "draft-eagle3: sampling on the backend is off, as it mixes up sequences\n");
        }
        if (!strategies.empty()) {
            driver = driver::create(up, n_seq);
            if (!driver || driver::types(driver.get()).size() != strategies.size()) {
                fail(abi::ERROR_UNSUPPORTED, "llama.cpp dropped a strategy of '%s' without a reason", p.strategies);
            }
        }
    } catch (const failure &) {
        throw;
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception & e) { // upstream's own refusal
        fail(abi::ERROR_UNSUPPORTED, "%s", e.what());
    }
    follows_rows = model && model->target_rows;
    has_boundary = driver && driver::has_boundary(driver.get());
    n_block      = model && model->block ? p.n_draft_max + 1 : 0;
    for (sequence & q : seqs) {
        q.by_strategy.resize(strategies.size());
    }
}

spec::~spec() {
    driver.reset(); // detaches its samplers from the draft context, which must still live
    driver::stop_extraction(ctx_tgt);
    if (ctx_dft) {
        driver::stop_extraction(ctx_dft);
    }
}

namespace impl {

int32_t draft_context_init(llama_context * ctx_tgt, llama_model * model_dft, const abi::params & p, llama_context ** out) {
    require_own_llama();
    llama_model *         model_tgt  = const_cast<llama_model *>(llama_get_model(ctx_tgt));
    const auto            strategies = select(p, model_tgt, model_dft).strategies;
    const strategy_info * model      = draft_strategy(strategies);
    *out                             = nullptr;
    if (!model) {
        if (model_dft && p.n_draft_max > 0) { // a limit of 0 is plain decoding, whatever is given
            fail(abi::ERROR_INVALID_ARGUMENT, "model_dft is given, but none of the strategies '%s' uses a draft model: pass NULL", p.strategies);
        }
        return abi::OK;
    }
    require_models(model_tgt, model_dft, strategies, p);

    const int32_t n_seq   = (int32_t) llama_n_seq_max(ctx_tgt);
    const int32_t per_seq = model->block ? p.n_draft_max + 1 : 1;

    llama_context_params cp  = llama_context_default_params();
    cp.n_ctx                 = llama_n_ctx(ctx_tgt);
    cp.n_batch               = llama_n_batch(ctx_tgt);
    cp.n_ubatch              = llama_n_ubatch(ctx_tgt);
    cp.n_seq_max             = n_seq;
    cp.n_rs_seq              = 0;
    cp.n_outputs_max         = n_seq * per_seq;
    cp.n_outputs_max_per_seq = per_seq;
    cp.n_threads             = llama_n_threads(ctx_tgt);
    cp.n_threads_batch       = llama_n_threads_batch(ctx_tgt);
    cp.ctx_type              = model->type == COMMON_SPECULATIVE_TYPE_DRAFT_MTP ? LLAMA_CONTEXT_TYPE_MTP : LLAMA_CONTEXT_TYPE_DEFAULT;
    cp.kv_unified            = driver::kv_unified(ctx_tgt);
    cp.ctx_other             = ctx_tgt;
    cp.embeddings            = false;
    cp.no_perf               = true;
    llama_context * ctx      = llama_init_from_model(model_dft ? model_dft : model_tgt, cp);
    if (!ctx) {
        fail(abi::ERROR_UNSUPPORTED, "llama.cpp could not create the draft context of %s; its log says why (see log_set)", model->name);
    }
    *out = ctx;
    return abi::OK;
}

int32_t init(llama_context * ctx_tgt, llama_context * ctx_dft, const abi::params & p, spec ** out) {
    require_own_llama();
    *out = new spec(ctx_tgt, ctx_dft, p);
    return abi::OK;
}

void free(spec * s) {
    delete s;
}

} // namespace impl

int32_t sequence_count(const spec & s) {
    return s.n_seq;
}

} // namespace spb
