// The caller's params as upstream's.
#pragma once

#include "abi.h"

#include "common.h"

#include <string>
#include <vector>

namespace spb {

// What is known of a strategy without any model.
struct strategy_info {
    const char *            name;
    common_speculative_type type;
    bool                    draft_model;  // drafts with a context of its own
    bool                    target_rows;  // reads hidden rows of the target
    bool                    block;        // evaluates a whole block at once
    bool                    saved;        // a saved state restores it exactly
};

// All names, comma-separated, in the order in which they are asked to draft.
std::string strategy_names();

// The strategy of one of upstream's types.
const strategy_info * strategy_of(common_speculative_type type);

// Whether `auto` stands in the list.
bool wants_detection(const abi::params & p);

// The strategies of a list, in upstream's order, checked against each other. `detected` takes the place of `auto`. Empty
// for "none" and for a draft limit of 0 where only draft models are named. Throws ERROR_INVALID_ARGUMENT or ERROR_UNSUPPORTED.
std::vector<const strategy_info *> parse_strategies(const abi::params & p, const strategy_info * detected = nullptr);

// The draft-model strategy among them, or null; there is at most one.
const strategy_info * draft_strategy(const std::vector<const strategy_info *> & strategies);

// Longest draft that any of them can make, before limits of the models.
int32_t longest_draft(const std::vector<const strategy_info *> & strategies, const abi::params & p);

// Upstream's params without contexts.
common_params_speculative to_upstream(const std::vector<const strategy_info *> & strategies, const abi::params & p);

} // namespace spb
