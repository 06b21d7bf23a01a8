#include "requirements.h"

#include "barrier.h"
#include "detection.h"
#include "driver_access.h"
#include "identity.h"
#include "impl.h"
#include "memory.h"

#include <algorithm>
#include <cstdlib>

namespace spb {

static void require_own_model(const llama_model * draft, const strategy_info & strategy) {
    if (!draft) {
        fail(abi::ERROR_UNSUPPORTED, "%s needs a draft model of its own: load one and pass it", strategy.name);
    }
}

static void require_kind(const llama_model * draft, const strategy_info & strategy, const char * wanted) {
    const std::string arch = driver::architecture(draft);
    if (arch != wanted) {
        fail(abi::ERROR_UNSUPPORTED, "%s needs a draft model of architecture '%s', but this one is '%s'", strategy.name, wanted, arch.c_str());
    }
}

static void require_target_layers(const llama_model * target, const llama_model * draft, const strategy_info & strategy, bool may_read_output) {
    const std::vector<int32_t> layers  = driver::target_layers(draft);
    const int32_t              n_layer = llama_model_n_layer(target);
    if (layers.empty()) {
        fail(abi::ERROR_UNSUPPORTED, "%s: the draft model does not say which layers of the target it reads", strategy.name);
    }
    for (int32_t layer : layers) {
        if (layer < 0 || layer > n_layer || (layer == n_layer && !may_read_output)) {
            fail(abi::ERROR_UNSUPPORTED, "%s: the draft reads layer %d of the target, which has layers 0 to %d: it was made for another model",
                 strategy.name, layer, n_layer - 1);
        }
    }
}

// Architectures whose graph walks several MTP heads one after the other; the others assert that there is one.
static bool chains_heads(const std::string & arch) {
    static const std::string chaining[] = {"mimo2", "step35", "hy_v3", "gemma4-assistant"};
    return std::find(std::begin(chaining), std::end(chaining), arch) != std::end(chaining);
}

static void require_mtp(const llama_model * target, const llama_model * draft, const strategy_info & strategy) {
    const llama_model * heads = draft ? draft : target;
    const char *        which = draft ? "draft" : "target";
    if (llama_model_n_layer_nextn(heads) <= 0) {
        fail(abi::ERROR_UNSUPPORTED, "%s: the %s model has no MTP heads (its GGUF has no nextn_predict_layers)", strategy.name, which);
    }
    const std::string arch = driver::architecture(heads);
    if (llama_model_n_layer_nextn(heads) > 1 && !chains_heads(arch)) {
        fail(abi::ERROR_UNSUPPORTED, "%s: the %s model has %d MTP heads, but llama.cpp runs architecture '%s' with one: convert it with one head", strategy.name,
             which, llama_model_n_layer_nextn(heads), arch.c_str());
    }
    if (!driver::mtp_heads_loaded(heads)) {
        fail(abi::ERROR_UNSUPPORTED, "%s: the MTP heads of the %s model are not loaded: load it with load_mtp = true", strategy.name, which);
    }
    const std::string mismatch = driver::shared_memory_mismatch(target, heads);
    if (!mismatch.empty()) {
        fail(abi::ERROR_UNSUPPORTED, "%s: the heads of the draft model do not fit this target: %s", strategy.name, mismatch.c_str());
    }
    if (llama_model_n_embd_out(heads) != llama_model_n_embd_out(target)) {
        fail(abi::ERROR_UNSUPPORTED, "%s: hidden rows of the target have %d values, the heads expect %d", strategy.name,
             llama_model_n_embd_out(target), llama_model_n_embd_out(heads));
    }
}

static void require_block(const llama_model * draft, const strategy_info & strategy, const abi::params & p) {
    char    text[32] = {};
    int32_t block    = 16; // upstream's value for a file that does not say
    if (llama_model_meta_val_str(draft, "dflash.block_size", text, sizeof(text)) >= 0) {
        block = std::atoi(text);
    }
    const bool    spark = strategy.type == COMMON_SPECULATIVE_TYPE_DRAFT_DSPARK;
    const int32_t most  = spark ? block : block - 1;
    if (p.n_draft_max > most) {
        fail(abi::ERROR_UNSUPPORTED, "params.n_draft_max is %d, but this draft was trained on blocks of %d, so %s drafts at most %d tokens",
             p.n_draft_max, block, strategy.name, most);
    }
    const bool markov = driver::has_markov_head(draft);
    if (spark && !markov) {
        fail(abi::ERROR_UNSUPPORTED, "draft-dspark needs a draft with a Markov head; this one is for draft-dflash");
    }
    if (!spark && markov) {
        fail(abi::ERROR_UNSUPPORTED, "this draft has a Markov head: use it with draft-dspark");
    }
    if (spark && p.p_min > 0.0f && llama_model_meta_val_str(draft, "dflash.has_confidence_head", text, sizeof(text)) >= 0 &&
        std::string(text) != "true") {
        fail(abi::ERROR_UNSUPPORTED, "params.p_min is %g, but this draft has no confidence head: set it to 0", p.p_min);
    }
}

void require_models(const llama_model * target, const llama_model * draft, const std::vector<const strategy_info *> & strategies,
                    const abi::params & p) {
    if (llama_model_has_encoder(target)) {
        fail(abi::ERROR_UNSUPPORTED, "the target is an encoder-decoder model: speculative decoding needs a decoder alone");
    }
    const strategy_info * strategy = draft_strategy(strategies);
    if (!strategy) {
        return;
    }
    switch (strategy->type) {
        case COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE:
            require_own_model(draft, *strategy);
            break;
        case COMMON_SPECULATIVE_TYPE_DRAFT_MTP:
            require_mtp(target, draft, *strategy);
            break;
        case COMMON_SPECULATIVE_TYPE_DRAFT_EAGLE3:
            require_own_model(draft, *strategy);
            require_kind(draft, *strategy, "eagle3");
            require_target_layers(target, draft, *strategy, true);
            if (driver::target_layers(draft).size() != 3) {
                fail(abi::ERROR_UNSUPPORTED, "draft-eagle3: the draft reads %zu layers of the target; it must be 3", driver::target_layers(draft).size());
            }
            break;
        default:
            require_own_model(draft, *strategy);
            require_kind(draft, *strategy, "dflash");
            require_target_layers(target, draft, *strategy, false);
            require_block(draft, *strategy, p);
            break;
    }
    if (draft) {
        const std::string mismatch = driver::vocabulary_mismatch(target, draft);
        if (!mismatch.empty()) {
            fail(abi::ERROR_UNSUPPORTED, "%s: the draft's vocabulary does not match the target's: %s", strategy->name, mismatch.c_str());
        }
    }
}

void require_target_context(const llama_context * ctx, const std::vector<const strategy_info *> & strategies, const abi::params & p) {
    const int32_t n_round = 1 + longest_draft(strategies, p);
    if (!strategies.empty() && (int32_t) llama_n_batch(ctx) < 2) {
        fail(abi::ERROR_UNSUPPORTED, "the target's n_batch is %u: a round with a draft needs at least 2, and %d for the longest draft",
             llama_n_batch(ctx), n_round);
    }
    if (!strategies.empty() && driver::n_outputs_max(ctx) < 2) {
        fail(abi::ERROR_UNSUPPORTED, "the target's n_outputs_max is %d: a round needs %d outputs per sequence (or 0, which takes n_batch)",
             driver::n_outputs_max(ctx), n_round);
    }
    if (rollback_of(ctx) == rollback_kind::snapshots && llama_n_ubatch(ctx) < llama_n_rs_seq(ctx) + 2) {
        fail(abi::ERROR_UNSUPPORTED, "the target's n_ubatch is %u: with n_rs_seq %u it must be at least %u, so that a round stays in one physical batch",
             llama_n_ubatch(ctx), llama_n_rs_seq(ctx), llama_n_rs_seq(ctx) + 2);
    }
    if (llama_pooling_type(ctx) != LLAMA_POOLING_TYPE_NONE && driver::embeddings(ctx)) {
        fail(abi::ERROR_UNSUPPORTED, "the target context makes embeddings: create it with embeddings = false");
    }
}

void require_draft_context(const llama_context * target, llama_context * draft, const strategy_info & strategy, const abi::params & p) {
    if (!draft) {
        fail(abi::ERROR_UNSUPPORTED, "%s needs a draft context: make one with draft_context_init and pass it as ctx_dft", strategy.name);
    }
    if (draft == target) {
        fail(abi::ERROR_INVALID_ARGUMENT, "ctx_dft is the target context: %s needs a context of its own, see draft_context_init", strategy.name);
    }
    const llama_model * model_tgt = llama_get_model(target);
    const llama_model * model_dft = llama_get_model(draft);
    const bool own_heads = model_dft == model_tgt && strategy.type == COMMON_SPECULATIVE_TYPE_DRAFT_MTP;
    require_models(model_tgt, own_heads ? nullptr : model_dft, {&strategy}, p);

    const uint32_t n_seq = llama_n_seq_max(target);
    if (llama_n_seq_max(draft) != n_seq) {
        fail(abi::ERROR_UNSUPPORTED, "the draft context has n_seq_max %u, the target %u: they must be equal", llama_n_seq_max(draft), n_seq);
    }
    if (llama_n_batch(draft) < llama_n_batch(target)) {
        fail(abi::ERROR_UNSUPPORTED, "the draft context has n_batch %u, the target %u: the draft follows the target's batches and needs as much",
             llama_n_batch(draft), llama_n_batch(target));
    }
    if (llama_n_ctx_seq(draft) < llama_n_ctx_seq(target)) {
        fail(abi::ERROR_UNSUPPORTED, "the draft context holds %u tokens per sequence, the target %u: the draft needs as much", llama_n_ctx_seq(draft),
             llama_n_ctx_seq(target));
    }
    if (strategy.target_rows && driver::context_type(draft) != (strategy.type == COMMON_SPECULATIVE_TYPE_DRAFT_MTP ? LLAMA_CONTEXT_TYPE_MTP : LLAMA_CONTEXT_TYPE_DEFAULT)) {
        fail(abi::ERROR_UNSUPPORTED, "%s needs a draft context of another type (ctx_type): make it with draft_context_init", strategy.name);
    }
    const int32_t per_seq = strategy.block ? p.n_draft_max + 1 : 1;
    if (driver::n_outputs_max(draft) < (int32_t) n_seq * per_seq) {
        fail(abi::ERROR_UNSUPPORTED, "the draft context has n_outputs_max %d; %s needs %d (%u sequences of %d)", driver::n_outputs_max(draft), strategy.name,
             (int32_t) n_seq * per_seq, n_seq, per_seq);
    }
    if (strategy.block) {
        if ((int32_t) llama_n_ubatch(draft) < (int32_t) n_seq * per_seq) {
            fail(abi::ERROR_UNSUPPORTED, "the draft context has n_ubatch %u; %s evaluates one block per sequence at once and needs %d", llama_n_ubatch(draft),
                 strategy.name, (int32_t) n_seq * per_seq);
        }
        if (p.backend_sampling && driver::n_outputs_max_per_seq(draft) < per_seq) {
            fail(abi::ERROR_UNSUPPORTED, "the draft context has n_outputs_max_per_seq %d; %s with backend sampling needs %d", driver::n_outputs_max_per_seq(draft),
                 strategy.name, per_seq);
        }
    }
}

namespace impl {

int32_t requirements(llama_model * model_tgt, llama_model * model_dft, const abi::params & p, abi::needs & out) {
    require_own_llama();
    const auto            strategies = select(p, model_tgt, model_dft).strategies;
    const strategy_info * model      = draft_strategy(strategies);
    require_models(model_tgt, model_dft, strategies, p);

    const bool    recurrent = llama_model_is_recurrent(model_tgt) || llama_model_is_hybrid(model_tgt);
    const int32_t longest   = longest_draft(strategies, p);

    out.needs_draft_context = model != nullptr;
    out.needs_draft_model   = model && model->type != COMMON_SPECULATIVE_TYPE_DRAFT_MTP;
    out.load_mtp            = model && model->type == COMMON_SPECULATIVE_TYPE_DRAFT_MTP && !model_dft;
    out.n_rs_seq            = longest;
    out.n_outputs_per_seq   = 1 + longest;
    out.n_batch_min         = 1 + longest;
    out.n_ubatch_per_seq    = model && model->block ? p.n_draft_max + 1 : 0;
    out.rollback            = recurrent ? abi::ROLLBACK_SNAPSHOTS : abi::ROLLBACK_REMOVE;
    out.n_draft_max         = longest;
    return abi::OK;
}

} // namespace impl
} // namespace spb
