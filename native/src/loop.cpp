// The loop: prompts in, rounds, accepted tokens out.
#include "impl.h"
#include "spec.h"

#include <algorithm>

namespace spb {

int32_t seq_of(const abi::batch & b, int32_t i) {
    return b.seq_id ? b.seq_id[i] : 0;
}

void require_batch(const spec & s, const abi::batch & b) {
    std::vector<bool> closed((size_t) s.n_seq);
    for (int32_t i = 0; i < b.n_tokens; ++i) {
        const int32_t seq = seq_of(b, i);
        if (seq < 0 || seq >= s.n_seq) {
            fail(abi::ERROR_INVALID_ARGUMENT, "batch.seq_id[%d] is %d, but this object has %d sequences (0 to %d)", i, seq, s.n_seq, s.n_seq - 1);
        }
        if (b.token[i] < 0 || b.token[i] >= s.n_vocab) {
            fail(abi::ERROR_INVALID_ARGUMENT, "batch.token[%d] is %d, but the vocabulary has tokens 0 to %d", i, b.token[i], s.n_vocab - 1);
        }
        const bool starts = i == 0 || seq_of(b, i - 1) != seq;
        if (starts && closed[(size_t) seq]) {
            fail(abi::ERROR_INVALID_ARGUMENT, "batch.seq_id[%d]: the tokens of sequence %d do not stand together", i, seq);
        }
        if (!starts && b.pos && b.pos[i] != b.pos[i - 1] + 1) {
            fail(abi::ERROR_INVALID_ARGUMENT, "batch.pos[%d] is %d; after position %d of sequence %d it must be %d", i, b.pos[i], b.pos[i - 1], seq, b.pos[i - 1] + 1);
        }
        closed[(size_t) seq] = true;
    }
}

static void commit_open_rounds(spec & s) {
    for (int32_t seq = 0; seq < s.n_seq; ++seq) {
        sequence & q = s.at(seq);
        if (q.open) {
            commit(s, seq, (int32_t) q.emitted.size());
        }
    }
    for (sequence & q : s.seqs) {
        q.emitted.clear();
    }
}

namespace {

// Sequences that a batch of prompt tokens extends, with what is needed to leave them as they were.
struct extended {
    int32_t seq, n_tokens, finish;
};

void restore(spec & s, const std::vector<extended> & sequences) {
    for (const extended & e : sequences) {
        sequence & q = s.at(e.seq);
        if (e.n_tokens == 0) {
            const int32_t n_draft_max = q.n_draft_max, n_predict_left = q.n_predict_left;
            clear(s, e.seq);
            s.at(e.seq).n_draft_max    = n_draft_max;
            s.at(e.seq).n_predict_left = n_predict_left;
        } else {
            truncate(s, e.seq, e.n_tokens);
        }
        s.at(e.seq).finish = e.finish;
    }
}

int32_t take_prompt(spec & s, const abi::batch & b) {
    if (b.n_tokens == 0) {
        return abi::NOTHING;
    }
    require_batch(s, b);
    std::vector<extended> sequences;
    for (int32_t i = 0; i < b.n_tokens; ++i) {
        const int32_t seq = seq_of(b, i);
        if (!sequences.empty() && sequences.back().seq == seq) {
            continue;
        }
        const sequence & q = s.at(seq);
        refuse_callers_sequence(q, seq);
        if (q.lost) {
            fail(abi::ERROR_SEQUENCE_LOST, "sequence %d is lost: seq_clear it and give the prompt again", seq);
        }
        if (b.pos && b.pos[i] != q.n_tokens()) {
            fail(abi::ERROR_INVALID_ARGUMENT, "batch.pos[%d] is %d, but sequence %d holds %d tokens: its next position is %d", i, b.pos[i], seq, q.n_tokens(), q.n_tokens());
        }
        int32_t end = i;
        while (end < b.n_tokens && seq_of(b, end) == seq) {
            ++end;
        }
        if (q.n_tokens() + end - i > s.n_ctx_seq) {
            return abi::CONTEXT_FULL;
        }
        sequences.push_back({seq, q.n_tokens(), q.finish});
    }
    for (int32_t i = 0; i < b.n_tokens; ++i) {
        sequence & q = s.at(seq_of(b, i));
        if (!q.empty()) {
            q.history.push_back(q.id_last);
        }
        q.id_last = b.token[i];
    }
    std::vector<int32_t> seqs;
    for (const extended & e : sequences) {
        sequence & q    = s.at(e.seq);
        q.driver        = driven_by::loop;
        q.finish        = q.n_predict_left == 0 ? abi::FINISH_LIMIT : abi::FINISH_NONE;
        q.begin_pending = true;
        seqs.push_back(e.seq);
    }
    int32_t status;
    try {
        status = catch_up(s, seqs);
    } catch (...) {
        restore(s, sequences);
        throw;
    }
    if (status != abi::OK) {
        restore(s, sequences);
    }
    return status;
}

// What a round without active sequences means.
int32_t why_nothing(const spec & s) {
    bool full = false, ended = false, lost = false;
    for (const sequence & q : s.seqs) {
        full |= q.finish == abi::FINISH_CONTEXT_FULL;
        ended |= !q.empty() && q.finish != abi::FINISH_NONE;
        lost |= q.lost;
    }
    if (lost && !ended) {
        fail(abi::ERROR_SEQUENCE_LOST, "the only sequences with tokens are lost: seq_clear them");
    }
    return full ? abi::CONTEXT_FULL : ended ? abi::END : abi::NOTHING;
}

int32_t take_round(spec & s) {
    s.active.clear();
    for (int32_t seq = 0; seq < s.n_seq; ++seq) {
        const sequence & q = s.at(seq);
        if (q.driver == driven_by::loop && q.can_go_on()) {
            s.active.push_back(seq);
        }
    }
    if (s.active.empty()) {
        return why_nothing(s);
    }
    const int32_t status = run_round(s);
    if (status != abi::OK) {
        return status;
    }
    const bool any = std::any_of(s.active.begin(), s.active.end(), [&](int32_t seq) { return s.at(seq).open; });
    return any ? abi::OK : why_nothing(s);
}

} // namespace

namespace impl {

int32_t seq_set_sampler(spec & s, int32_t seq_id, llama_sampler * smpl) {
    const seq_range range(s, seq_id);
    if (seq_id == abi::SEQ_ALL && smpl && s.n_seq > 1) {
        fail(abi::ERROR_INVALID_ARGUMENT, "one sampler cannot serve %d sequences at once: set one per sequence", s.n_seq);
    }
    for (int32_t seq = range.first; seq <= range.last; ++seq) {
        refuse_open_round(s.at(seq), seq);
    }
    for (int32_t seq = range.first; seq <= range.last; ++seq) {
        sequence & q = s.at(seq);
        q.sampler.set(smpl, s.n_vocab);
        if (q.finish == abi::FINISH_SAMPLER) {
            q.finish = abi::FINISH_NONE;
        }
    }
    return abi::OK;
}

int32_t seq_set_limits(spec & s, int32_t seq_id, int32_t n_draft_max, int32_t n_predict) {
    const seq_range range(s, seq_id);
    for (int32_t seq = range.first; seq <= range.last; ++seq) {
        sequence & q     = s.at(seq);
        q.n_draft_max    = n_draft_max;
        q.n_predict_left = n_predict < 0 || !q.open ? n_predict : n_predict + (int32_t) q.emitted.size();
        if (!q.open && n_predict == 0 && q.finish == abi::FINISH_NONE) {
            q.finish = abi::FINISH_LIMIT;
        } else if (n_predict != 0 && q.finish == abi::FINISH_LIMIT) {
            q.finish = abi::FINISH_NONE;
        }
    }
    return abi::OK;
}

int32_t decode(spec & s, const abi::batch * batch) {
    commit_open_rounds(s);
    if (take_cancel(s)) {
        return abi::CANCELLED;
    }
    return batch ? take_prompt(s, *batch) : take_round(s);
}

int32_t get_accepted_tokens(spec & s, int32_t seq_id, int32_t * out, size_t capacity, size_t * n_out) {
    const llama_tokens & tokens = s.at(seq_id).emitted;
    *n_out                      = tokens.size();
    if (capacity < tokens.size()) {
        fail(abi::ERROR_BUFFER_TOO_SMALL, "%zu tokens were accepted, but there is room for %zu", tokens.size(), capacity);
    }
    std::copy(tokens.begin(), tokens.end(), out);
    return abi::OK;
}

int32_t get_logits(spec & s, int32_t seq_id, int32_t index, const float ** logits, int32_t * n_vocab) {
    sequence & q = s.at(seq_id);
    if (q.emitted.empty()) {
        fail(abi::ERROR_CALL_ORDER, "sequence %d accepted no tokens in the last decode: there are no logits", seq_id);
    }
    if (index >= (int32_t) q.emitted.size()) {
        fail(abi::ERROR_INVALID_ARGUMENT, "index is %d, but sequence %d has %zu accepted tokens", index, seq_id, q.emitted.size());
    }
    *logits  = row_of(s, q, index);
    *n_vocab = s.n_vocab;
    return abi::OK;
}

int32_t commit(spec & s, int32_t seq_id, int32_t n_keep) {
    sequence & q = s.at(seq_id);
    if (!q.open) {
        fail(abi::ERROR_CALL_ORDER, "sequence %d has no open round: call decode(NULL) first, and commit once per round", seq_id);
    }
    if (n_keep > (int32_t) q.emitted.size()) {
        fail(abi::ERROR_INVALID_ARGUMENT, "n_keep is %d, but the round has %zu accepted tokens", n_keep, q.emitted.size());
    }
    spb::commit(s, seq_id, n_keep);
    return abi::OK;
}

int32_t cancel(spec & s) {
    s.cancelled.store(true, std::memory_order_release);
    return abi::OK;
}

} // namespace impl
} // namespace spb
