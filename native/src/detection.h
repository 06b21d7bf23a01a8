// Which draft strategy models are made for.
#pragma once

#include "params.h"

#include "llama.h"

namespace spb {

// What `auto` stands for. `strategy` is null where nothing fits.
struct detected {
    const strategy_info * strategy = nullptr;
    const char *          reason   = ""; // static
};

// `draft` may be null: then the target's own MTP heads count, loaded or not.
detected detect(const llama_model * target, const llama_model * draft);

// What drafts, and why.
struct selection {
    std::vector<const strategy_info *> strategies;
    const char *                       reason = ""; // of the draft strategy; static
};

// The strategies of the params on these models. Throws what `parse_strategies` throws.
selection select(const abi::params & p, const llama_model * target, const llama_model * draft);

} // namespace spb
