// Counters: what was drafted, what was right, and where the time went.
#include "impl.h"
#include "spec.h"

namespace spb {

void counters::add(const counters & other) {
    n_rounds += other.n_rounds;
    n_drafts += other.n_drafts;
    n_drafted += other.n_drafted;
    n_accepted += other.n_accepted;
    n_emitted += other.n_emitted;
}

void count_round(sequence & q, size_t n_emitted) {
    counters c;
    c.n_rounds   = 1;
    c.n_drafts   = !q.draft.empty();
    c.n_drafted  = q.draft.size();
    c.n_accepted = (uint64_t) q.n_verified;
    c.n_emitted  = n_emitted;
    q.total.add(c);
    if (q.strategy >= 0) {
        q.by_strategy[(size_t) q.strategy].add(c);
    }
}

namespace impl {

int32_t stats(spec & s, int32_t seq_id, const char * strategy, abi::counters & out) {
    int32_t index = -1;
    if (strategy) {
        for (size_t i = 0; i < s.strategies.size(); ++i) {
            if (std::string(strategy) == s.strategies[i]->name) {
                index = (int32_t) i;
            }
        }
        if (index < 0) {
            std::string active;
            for (const strategy_info * info : s.strategies) {
                active += (active.empty() ? "" : ", ") + std::string(info->name);
            }
            fail(abi::ERROR_INVALID_ARGUMENT, "strategy '%s' is not active; active: %s", strategy, active.empty() ? "none" : active.c_str());
        }
    }
    counters        sum;
    const seq_range range(s, seq_id);
    for (int32_t seq = range.first; seq <= range.last; ++seq) {
        const sequence & q = s.at(seq);
        sum.add(index < 0 ? q.total : q.by_strategy[(size_t) index]);
    }
    out.n_rounds   = sum.n_rounds;
    out.n_drafts   = sum.n_drafts;
    out.n_drafted  = sum.n_drafted;
    out.n_accepted = sum.n_accepted;
    out.n_emitted  = sum.n_emitted;
    if (index < 0 && seq_id == abi::SEQ_ALL) {
        out.n_decodes    = s.sums.n_decodes;
        out.t_draft_us   = s.sums.t_draft_us;
        out.t_decode_us  = s.sums.t_decode_us;
        out.t_process_us = s.sums.t_process_us;
        out.t_sample_us  = s.sums.t_sample_us;
    }
    return abi::OK;
}

int32_t stats_reset(spec & s) {
    for (sequence & q : s.seqs) {
        q.total = {};
        q.by_strategy.assign(s.strategies.size(), {});
    }
    s.sums = {};
    return abi::OK;
}

} // namespace impl
} // namespace spb
