// What models and contexts must be like for a set of strategies. Upstream asserts on most of this, so it is checked first.
#pragma once

#include "params.h"

#include "llama.h"

namespace spb {

// Throws ERROR_UNSUPPORTED with the reason if the models cannot work together. `draft` may be null.
void require_models(const llama_model * target, const llama_model * draft, const std::vector<const strategy_info *> & strategies,
                    const abi::params & p);

// Throws ERROR_UNSUPPORTED if a context was not made as `requirements` says.
void require_target_context(const llama_context * ctx, const std::vector<const strategy_info *> & strategies, const abi::params & p);
void require_draft_context(const llama_context * target, llama_context * draft, const strategy_info & strategy, const abi::params & p);

} // namespace spb
