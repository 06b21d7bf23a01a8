// One draft-and-verify round over the active sequences: draft, evaluate, sample and compare.
#include "spec.h"

#include "ggml.h"

#include <algorithm>

namespace spb {

namespace {

// Tokens that one batch of a round can hold, since each of them is an output.
int32_t batch_room(const spec & s) {
    return std::min((int32_t) llama_n_batch(s.ctx_tgt), driver::n_outputs_max(s.ctx_tgt));
}

// Longest draft that a sequence can use in this round: its limits, what it may still emit, and the room in its context.
int32_t draft_budget(const spec & s, const sequence & q) {
    int32_t n = batch_room(s) - 1;
    if (q.n_draft_max >= 0) {
        n = std::min(n, q.n_draft_max);
    }
    if (q.n_predict_left >= 0) {
        n = std::min(n, q.n_predict_left - 1);
    }
    return std::min(n, draft_room(s, (int32_t) q.history.size()));
}

void make_drafts(spec & s) {
    s.requests.clear();
    for (int32_t seq : s.active) {
        sequence & q = s.at(seq);
        q.draft.clear();
        q.strategy      = -1;
        const int32_t n = s.driver ? draft_budget(s, q) : 0;
        if (n > 0) {
            s.requests.push_back({seq, n, (llama_pos) q.history.size(), q.id_last, &q.history, &q.draft, &q.lessons});
        }
    }
    if (!s.requests.empty()) {
        draft_now(s);
    }
}

int32_t n_verify(const spec & s, int32_t seq) {
    return 1 + (int32_t) s.seqs[(size_t) seq].draft.size();
}

// Cuts active[begin, end) into batches that fit, never inside a sequence.
void cut(spec & s, size_t begin, size_t end, int32_t room) {
    for (size_t i = begin; i < end; ++i) {
        const int32_t n = n_verify(s, s.active[i]);
        if (i == begin || s.parts.back().n_tokens + n > room) {
            s.parts.push_back({i, i, 0});
        }
        s.parts.back().end = i + 1;
        s.parts.back().n_tokens += n;
    }
}

// Where rejected tokens leave by snapshots, llama.cpp may move the state of a sequence to another cell when it evaluates
// several others in one physical batch, and leaves its snapshots behind. So those without a draft come first, which have
// nothing to reject; then one physical batch of neighbours with drafts of one length; and then the rest, one by one.
void cut_for_snapshots(spec & s, int32_t room) {
    auto &     active  = s.active;
    const auto drafted = std::partition(active.begin(), active.end(), [&](int32_t seq) { return n_verify(s, seq) == 1; });
    std::sort(active.begin(), drafted); // a stable partition would allocate
    std::sort(drafted, active.end());
    const auto n_plain = (size_t) (drafted - active.begin());
    cut(s, 0, n_plain, room);
    const int32_t one_batch = std::min(room, (int32_t) llama_n_ubatch(s.ctx_tgt));
    for (size_t i = n_plain; i < active.size(); ++i) {
        const int32_t n     = n_verify(s, active[i]);
        const bool    joins = i > n_plain && s.parts.back().begin == n_plain && active[i] == active[i - 1] + 1 && n == n_verify(s, active[i - 1]) &&
                           s.parts.back().n_tokens + n <= one_batch;
        if (!joins) {
            s.parts.push_back({i, i, 0});
        }
        s.parts.back().end = i + 1;
        s.parts.back().n_tokens += n;
    }
}

void cut(spec & s) {
    const int32_t room = batch_room(s);
    s.parts.clear();
    if (s.target.kind() == rollback_kind::snapshots) {
        cut_for_snapshots(s, room);
    } else {
        cut(s, 0, s.active.size(), room);
    }
}

void refuse_backend_sampler(spec & s, int32_t row) {
    if (llama_get_sampled_token_ith(s.ctx_tgt, row) != LLAMA_TOKEN_NULL) {
        fail(abi::ERROR_UNSUPPORTED, "the target context samples on its backend: detach its samplers and give them to seq_set_sampler");
    }
}

// Samples the rows of one sequence for as long as they agree with the draft.
void sample_and_compare(spec & s, sequence & q) {
    q.emitted.clear();
    q.n_verified    = 0;
    q.sampler_ended = false;
    for (int32_t i = 0;; ++i) {
        const float * logits = llama_get_logits_ith(s.ctx_tgt, q.row0 + i);
        if (!logits) {
            fail(abi::ERROR_DECODE, "the target gave no logits for row %d of the round", i);
        }
        const sampled t = q.sampler.next(logits, s.n_vocab);
        if (t.ended) {
            q.sampler_ended = true;
            return;
        }
        q.emitted.push_back(t.token);
        const bool agrees = i < (int32_t) q.draft.size() && t.token == q.draft[i];
        q.n_verified += agrees;
        if (!agrees || llama_vocab_is_eog(s.vocab, t.token)) {
            return;
        }
    }
}

// Takes back what a part evaluated and sampled, as if it had not been tried.
void undo(spec & s, const part & p) {
    for (size_t i = p.begin; i < p.end; ++i) {
        const int32_t seq = s.active[i];
        sequence &    q   = s.at(seq);
        q.sampler.restore();
        recover(s, seq, (int32_t) q.history.size());
        q.open = false;
        q.emitted.clear();
        q.draft.clear();
    }
}

void fill_batch(spec & s, const part & p) {
    s.batch.clear();
    for (size_t i = p.begin; i < p.end; ++i) {
        sequence & q   = s.at(s.active[i]);
        q.row0         = s.batch.size();
        llama_pos pos  = (llama_pos) q.history.size();
        s.batch.add(q.id_last, pos++, s.active[i], true);
        for (llama_token t : q.draft) {
            s.batch.add(t, pos++, s.active[i], true);
        }
    }
}

// Evaluates one part. When the context has no room, drafts are given up before the tokens themselves are.
int32_t evaluate_part(spec & s, const part & p) {
    for (;;) {
        bool drafted = false;
        for (size_t i = p.begin; i < p.end; ++i) {
            sequence &    q = s.at(s.active[i]);
            const int32_t n = (int32_t) q.draft.size();
            drafted |= n > 0;
            if (n > s.target.free_rollback(n + 1)) {
                s.target.checkpoint(s.active[i]);
            }
        }
        fill_batch(s, p);
        const int32_t rc = evaluate(s);
        if (rc != 1 || !drafted) {
            return rc;
        }
        for (size_t i = p.begin; i < p.end; ++i) {
            s.at(s.active[i]).draft.clear();
        }
    }
}

// Copies the rows of accepted tokens, which the next part's evaluation overwrites.
void keep_rows(spec & s, const part & p) {
    for (size_t i = p.begin; i < p.end; ++i) {
        sequence & q = s.at(s.active[i]);
        q.rows.resize(q.emitted.size() * (size_t) s.n_vocab);
        for (size_t k = 0; k < q.emitted.size(); ++k) {
            const float * row = llama_get_logits_ith(s.ctx_tgt, q.row0 + (int32_t) k);
            std::copy(row, row + s.n_vocab, q.rows.begin() + (std::ptrdiff_t) (k * (size_t) s.n_vocab));
        }
    }
}

void sample_part(spec & s, const part & p, bool last) {
    const int64_t t0     = ggml_time_us();
    const bool    single = last && p.end - p.begin == 1;
    for (size_t i = p.begin; i < p.end; ++i) {
        sequence & q = s.at(s.active[i]);
        refuse_backend_sampler(s, q.row0);
        if (!q.draft.empty() || !single) { // the rest of the round may fail, or the caller keep less of it
            q.sampler.snapshot();
        }
        sample_and_compare(s, q);
        q.rows.clear();
        q.open = true;
    }
    s.sums.t_sample_us += ggml_time_us() - t0;
}

// Throws or returns CANCELLED with the part as it stands; the caller takes it back.
int32_t verify(spec & s, const part & p, bool last) {
    const int32_t rc = evaluate_part(s, p);
    if (rc == 2) {
        take_cancel(s);
        return abi::CANCELLED;
    }
    if (rc != 0) {
        undo(s, p);
        for (size_t i = p.begin; i < p.end; ++i) {
            s.at(s.active[i]).finish = abi::FINISH_CONTEXT_FULL;
        }
        return abi::OK;
    }
    if (p.end - p.begin > 1) {
        s.target.snapshots_moved();
    }
    for (size_t i = p.begin; i < p.end; ++i) {
        s.target.added(s.active[i], n_verify(s, s.active[i]));
    }
    show(s);
    for (size_t i = p.begin; i < p.end; ++i) {
        const int32_t seq = s.active[i];
        const int32_t n   = n_verify(s, seq);
        s.at(seq).n_shown += n;
        s.at(seq).boundary_at = s.at(seq).n_shown;
        if (s.draft) {
            s.draft.added(seq, n);
        }
    }
    sample_part(s, p, last);
    if (!last) {
        keep_rows(s, p);
    }
    return abi::OK;
}

// All parts of a round or none: a cancel or an error in a later part takes the earlier ones back.
int32_t verify_all(spec & s) {
    size_t tried     = 0;
    auto   take_back = [&] {
        for (size_t i = 0; i < tried; ++i) {
            undo(s, s.parts[i]);
        }
    };
    try {
        while (tried < s.parts.size()) {
            const part & p      = s.parts[tried++];
            const bool   last   = tried == s.parts.size();
            int32_t      status = verify(s, p, last);
            if (status == abi::OK && !last && take_cancel(s)) {
                status = abi::CANCELLED;
            }
            if (status != abi::OK) {
                take_back();
                return status;
            }
        }
    } catch (...) {
        take_back();
        throw;
    }
    for (int32_t seq : s.active) {
        if (s.at(seq).open) {
            count_round(s.at(seq), s.at(seq).emitted.size());
        }
    }
    return abi::OK;
}

} // namespace

int32_t draft_room(const spec & s, int32_t pos0) {
    return pos0 + s.n_block > s.n_ctx_seq ? 0 : s.n_ctx_seq - pos0 - 1;
}

void draft_now(spec & s) {
    const int64_t t0 = ggml_time_us();
    if (s.draft && s.draft.kind() == rollback_kind::checkpoint) {
        for (const auto & r : s.requests) {
            s.draft.checkpoint(r.seq);
        }
    }
    driver::draft(s.driver.get(), s.requests);
    for (const auto & r : s.requests) {
        sequence & q = s.at(r.seq);
        q.strategy   = driver::drafted_by(s.driver.get(), r.seq);
        if (q.strategy < 0 && s.draft && !driver::draft_reached(s.driver.get(), r.seq, r.pos0)) {
            fail(abi::ERROR_DECODE, "the draft context could not evaluate position %d of sequence %d; its log says why (see log_set)", (int) r.pos0, r.seq);
        }
        if (s.draft) {
            s.draft.drop_uncounted(r.seq, r.pos0);
        }
        // a draft of another vocabulary or a damaged n-gram file may name tokens that the target does not have
        const auto bad = std::find_if(q.draft.begin(), q.draft.end(), [&](llama_token t) { return t < 0 || t >= s.n_vocab; });
        q.draft.erase(bad, q.draft.end());
    }
    s.sums.t_draft_us += ggml_time_us() - t0;
}

const float * row_of(spec & s, sequence & q, int32_t index) {
    if (!q.rows.empty()) {
        return q.rows.data() + (size_t) index * (size_t) s.n_vocab;
    }
    return llama_get_logits_ith(s.ctx_tgt, q.row0 + index);
}

int32_t run_round(spec & s) {
    int32_t status = catch_up(s, s.active);
    if (status != abi::OK) {
        return status;
    }
    for (int32_t seq : s.active) {
        sequence & q = s.at(seq);
        if (q.begin_pending && s.driver) {
            driver::begin(s.driver.get(), seq, q.history);
        }
        q.begin_pending = false;
        q.sampler.forget();
    }
    if (take_cancel(s)) {
        return abi::CANCELLED;
    }
    make_drafts(s);
    if (take_cancel(s)) {
        return abi::CANCELLED;
    }
    cut(s);
    return verify_all(s);
}

} // namespace spb
