// Changing what a sequence holds: committing a round, taking tokens back, copying, shifting, forgetting.
#include "impl.h"
#include "spec.h"

#include <algorithm>

namespace spb {

void refuse_open_round(const sequence & q, int32_t seq) {
    if (q.open) {
        fail(abi::ERROR_ROUND_OPEN, "sequence %d has %zu accepted tokens that are not committed: call commit first", seq, q.emitted.size());
    }
}

void refuse_callers_sequence(const sequence & q, int32_t seq) {
    if (q.driver == driven_by::caller) {
        fail(abi::ERROR_CALL_ORDER, "sequence %d is driven with begin, process, draft and accept: seq_clear it before using it with the loop", seq);
    }
}

void drop_memories(spec & s, int32_t seq) {
    s.target.clear(seq);
    if (s.draft) {
        s.draft.clear(seq);
    }
    sequence & q  = s.at(seq);
    q.n_shown     = 0;
    q.boundary_at = 0;
    if (s.driver && s.follows_rows) {
        driver::forget(s.driver.get(), seq);
        q.begin_pending = true;
    }
}

void take_back(spec & s, int32_t seq, int32_t n) {
    sequence & q = s.at(seq);
    s.target.take_back(seq, n);
    if (!s.target.holds_window(seq, n)) {
        s.target.clear(seq);
    }
    if (q.n_shown > n) {
        q.n_shown = n;
        if (s.draft) {
            // the count of the draft's memory follows what it was shown, of which it may hold one token less
            s.draft.take_back(seq, n);
            if (s.draft.kind() != rollback_kind::remove) {
                q.n_shown = std::min(n, s.draft.n(seq));
            }
            if (!s.draft.holds_window(seq, n)) {
                s.draft.clear(seq);
                q.n_shown = 0;
            }
        }
    }
    if (q.n_shown == 0 && s.follows_rows && s.target.n(seq) > 0) {
        drop_memories(s, seq);
    }
}

void recover(spec & s, int32_t seq, int32_t n) {
    s.target.recount(seq);
    if (s.draft) {
        s.draft.recount(seq);
    }
    take_back(s, seq, n);
}

void settle(spec & s, int32_t seq) {
    if (!s.shift_pending) {
        return;
    }
    const auto n = (int32_t) s.at(seq).history.size();
    take_back(s, seq, std::max(0, n - 1));
    const bool    cancelled = take_cancel(s); // meant for a decode, not for this
    const int32_t status    = catch_up(s, {seq});
    s.cancelled             = cancelled || s.cancelled;
    if (status != abi::OK) {
        fail(abi::ERROR_DECODE, "the last token of sequence %d could not be evaluated again after a shift", seq);
    }
    s.shift_pending = false;
}

void clear(spec & s, int32_t seq) {
    sequence & q = s.at(seq);
    drop_memories(s, seq);
    if (s.driver) {
        driver::forget(s.driver.get(), seq);
    }
    sequence fresh;
    fresh.history     = std::move(q.history); // its memory
    fresh.history.clear();
    fresh.lessons     = std::move(q.lessons); // likewise
    fresh.lessons.clear();
    fresh.sampler     = std::move(q.sampler);
    fresh.by_strategy = std::move(q.by_strategy);
    fresh.total       = q.total;
    q                 = std::move(fresh);
}

// The sampler goes back to before the round and samples the kept rows again, so that its random state advances exactly
// as in plain decoding.
static void replay_sampler(spec & s, sequence & q, int32_t n_keep) {
    if (q.sampler.greedy() || n_keep == (int32_t) q.emitted.size()) {
        return;
    }
    q.sampler.restore();
    for (int32_t i = 0; i < n_keep; ++i) {
        const sampled t = q.sampler.next(row_of(s, q, i), s.n_vocab);
        if (t.ended || t.token != q.emitted[i]) {
            fail(abi::ERROR_SAMPLER, "the sampler gives another token than before for row %d: its clone does not carry its whole state", i);
        }
    }
}

void commit(spec & s, int32_t seq, int32_t n_keep) {
    sequence & q = s.at(seq);
    q.open       = false;
    replay_sampler(s, q, n_keep);
    if (s.driver && n_keep > 0) {
        driver::accept(s.driver.get(), seq, n_keep - 1, q.n_verified);
        q.boundary_at = (int32_t) q.history.size() + n_keep;
    }
    if (n_keep > 0) {
        q.history.push_back(q.id_last);
        q.history.insert(q.history.end(), q.emitted.begin(), q.emitted.begin() + n_keep - 1);
        q.id_last = q.emitted[n_keep - 1];
    }
    take_back(s, seq, (int32_t) q.history.size());
    if (q.n_predict_left >= 0) {
        q.n_predict_left -= n_keep;
    }
    if (n_keep > 0 && llama_vocab_is_eog(s.vocab, q.id_last)) {
        q.finish = abi::FINISH_EOG;
    } else if (q.sampler_ended && n_keep == (int32_t) q.emitted.size()) {
        q.finish = abi::FINISH_SAMPLER;
    } else if (q.n_predict_left == 0) {
        q.finish = abi::FINISH_LIMIT;
    } else if ((int32_t) q.history.size() >= s.n_ctx_seq) {
        q.finish = abi::FINISH_CONTEXT_FULL;
    }
    q.emitted.resize(n_keep);
}

void truncate(spec & s, int32_t seq, int32_t n_tokens) {
    sequence & q = s.at(seq);
    if (n_tokens >= q.n_tokens()) {
        return;
    }
    if (n_tokens == 0) {
        clear(s, seq);
        return;
    }
    q.history.resize(n_tokens);
    q.id_last = q.history.back();
    q.history.pop_back();
    const int32_t n = n_tokens - 1;
    take_back(s, seq, n);
    if (s.driver) {
        driver::forget_history(s.driver.get(), seq); // an n-gram history must not reach behind the tokens
    }
    q.begin_pending = true;
    q.finish        = abi::FINISH_NONE;
    q.emitted.clear();
    q.draft.clear();
}

namespace impl {

int32_t seq_clear(spec & s, int32_t seq_id) {
    const seq_range range(s, seq_id);
    for (int32_t seq = range.first; seq <= range.last; ++seq) {
        clear(s, seq);
    }
    return abi::OK;
}

int32_t seq_truncate(spec & s, int32_t seq_id, int32_t n_tokens) {
    sequence & q = s.at(seq_id);
    refuse_callers_sequence(q, seq_id);
    refuse_open_round(q, seq_id);
    if (n_tokens > q.n_tokens()) {
        fail(abi::ERROR_INVALID_ARGUMENT, "n_tokens is %d, but sequence %d holds %d tokens", n_tokens, seq_id, q.n_tokens());
    }
    truncate(s, seq_id, n_tokens);
    return abi::OK;
}

int32_t seq_copy(spec & s, int32_t src, int32_t dst) {
    refuse_callers_sequence(s.at(src), src);
    refuse_open_round(s.at(src), src);
    refuse_open_round(s.at(dst), dst);
    if (src == dst) {
        return abi::OK;
    }
    settle(s, src);
    clear(s, dst);
    const sequence & from = s.at(src);
    sequence &       to   = s.at(dst);
    to.driver         = from.driver;
    to.history        = from.history;
    to.lessons        = from.lessons;
    to.id_last        = from.id_last;
    to.finish         = from.finish;
    to.n_shown        = from.n_shown;
    to.boundary_at    = from.boundary_at;
    to.begin_pending  = from.begin_pending;
    to.n_draft_max    = from.n_draft_max;
    to.n_predict_left = from.n_predict_left;
    if (!s.target.copy(src, dst) || (s.draft && !s.draft.copy(src, dst))) {
        drop_memories(s, dst); // its tokens are evaluated again instead
    } else if (s.driver) {
        driver::copy(s.driver.get(), src, dst);
    }
    return abi::OK;
}

int32_t seq_shift(spec & s, int32_t seq_id, int32_t p0, int32_t p1, int32_t delta) {
    sequence & q = s.at(seq_id);
    refuse_callers_sequence(q, seq_id);
    refuse_open_round(q, seq_id);
    if (p1 != abi::POS_END) {
        fail(abi::ERROR_UNSUPPORTED, "p1 is %d: a shift must move everything from p0 on, so pass POS_END", p1);
    }
    if (p0 > (int32_t) q.history.size() || p0 + delta < 0) {
        fail(abi::ERROR_INVALID_ARGUMENT, "p0 is %d and delta %d, but sequence %d has positions 0 to %d", p0, delta, seq_id, (int32_t) q.history.size());
    }
    llama_memory_t mem = llama_get_memory(s.ctx_tgt);
    if (s.target.kind() != rollback_kind::remove || !llama_memory_can_shift(mem)) {
        fail(abi::ERROR_UNSUPPORTED, "the target's memory cannot shift positions (a recurrent or hybrid model, or one without plain rotary positions)");
    }
    if (s.follows_rows) {
        fail(abi::ERROR_UNSUPPORTED, "the strategies follow the target's hidden rows, which a shift does not move: clear the sequence and give the shortened prompt again");
    }
    llama_memory_t dft = s.draft ? llama_get_memory(s.ctx_dft) : nullptr;
    if (dft && (s.draft.kind() != rollback_kind::remove || !llama_memory_can_shift(dft))) {
        fail(abi::ERROR_UNSUPPORTED, "the draft's memory cannot shift positions");
    }
    for (llama_memory_t m : {mem, dft}) {
        if (m) {
            llama_memory_seq_rm(m, seq_id, p0 + delta, p0);
            llama_memory_seq_add(m, seq_id, p0, -1, delta);
        }
    }
    q.history.erase(q.history.begin() + p0 + delta, q.history.begin() + p0);
    const int32_t n = (int32_t) q.history.size();
    s.target.loaded(seq_id, std::max(0, s.target.n(seq_id) + delta));
    if (s.draft) {
        s.draft.loaded(seq_id, std::max(0, s.draft.n(seq_id) + delta));
    }
    q.n_shown     = std::min(n, std::max(0, q.n_shown + delta));
    q.boundary_at = q.n_shown;
    if (s.driver) {
        driver::forget(s.driver.get(), seq_id);
    }
    s.shift_pending = true;
    q.begin_pending = true;
    if (q.finish == abi::FINISH_CONTEXT_FULL) {
        q.finish = abi::FINISH_NONE;
    }
    return abi::OK;
}

int32_t seq_info(spec & s, int32_t seq_id, abi::seq_status & out) {
    const sequence & q       = s.at(seq_id);
    const bool       callers = q.driver == driven_by::caller && !q.history.empty(); // who keeps the last token to itself
    out.state                = q.lost ? abi::SEQ_STATE_LOST : q.empty() && !callers ? abi::SEQ_STATE_NEEDS_BEGIN : abi::SEQ_STATE_READY;
    out.finish               = q.finish;
    out.n_tokens             = callers ? (int32_t) q.history.size() : q.n_tokens();
    out.n_kv                 = callers ? q.n_shown : s.target.n(seq_id);
    out.token_last     = q.id_last;
    out.n_open         = q.open ? (int32_t) q.emitted.size() : 0;
    out.n_pending      = q.empty() || q.open ? 0 : std::max(0, (int32_t) q.history.size() - s.target.n(seq_id));
    out.n_draft_max    = q.n_draft_max;
    out.n_predict_left = q.n_predict_left;
    return abi::OK;
}

} // namespace impl
} // namespace spb
