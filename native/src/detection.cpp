#include "detection.h"

#include "driver_access.h"
#include "impl.h"
#include "spec.h"

namespace spb {

detected detect(const llama_model * target, const llama_model * draft) {
    if (!draft) {
        return llama_model_n_layer_nextn(target) > 0 ? detected{strategy_of(COMMON_SPECULATIVE_TYPE_DRAFT_MTP), "no draft is given, and the target has MTP heads"}
                                                     : detected{nullptr, "no draft is given, and the target has no MTP heads"};
    }
    const std::string arch = driver::architecture(draft);
    if (arch == "eagle3") {
        return {strategy_of(COMMON_SPECULATIVE_TYPE_DRAFT_EAGLE3), "the draft is an EAGLE-3 head"};
    }
    if (arch == "dflash") {
        return driver::has_markov_head(draft) ? detected{strategy_of(COMMON_SPECULATIVE_TYPE_DRAFT_DSPARK), "the draft is a DFlash model with a Markov head"}
                                              : detected{strategy_of(COMMON_SPECULATIVE_TYPE_DRAFT_DFLASH), "the draft is a DFlash model"};
    }
    // a language model with heads of its own is one of another width
    if (llama_model_n_layer_nextn(draft) > 0 && llama_model_n_embd_out(draft) == llama_model_n_embd_out(target)) {
        return {strategy_of(COMMON_SPECULATIVE_TYPE_DRAFT_MTP), "the draft has MTP heads for hidden rows of the target's width"};
    }
    return {strategy_of(COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE), "the draft is a language model of its own"};
}

selection select(const abi::params & p, const llama_model * target, const llama_model * draft) {
    if (!wants_detection(p)) {
        selection out = {parse_strategies(p), "it is named in the params"};
        if (!draft_strategy(out.strategies)) {
            out.reason = "none is named in the params";
        }
        return out;
    }
    const detected found = detect(target, draft);
    return {parse_strategies(p, found.strategy), p.n_draft_max == 0 ? "n_draft_max is 0" : found.reason};
}

namespace impl {

int32_t selection_get(spec & s, abi::selection & out) {
    out.strategies = s.names.c_str();
    out.reason     = s.reason;
    return abi::OK;
}

} // namespace impl
} // namespace spb
