// The primitives: the caller decodes on the target, the strategies follow and draft.
#include "impl.h"
#include "spec.h"

#include "ggml.h"

#include <algorithm>

namespace spb {

static sequence & callers_sequence(spec & s, int32_t seq) {
    sequence & q = s.at(seq);
    if (q.driver == driven_by::loop) {
        fail(abi::ERROR_CALL_ORDER, "sequence %d is driven by decode: seq_clear it before using it with begin, process, draft and accept", seq);
    }
    if (q.lost) {
        fail(abi::ERROR_SEQUENCE_LOST, "the draft's memory of sequence %d was lost: seq_clear it and show the whole prompt again", seq);
    }
    return q;
}

// Positions of a batch must continue what the strategies have been shown, or the draft attends to a gap.
static void require_continuation(const spec & s, const abi::batch & b, int32_t i, int32_t seq) {
    const sequence & q   = s.seqs[(size_t) seq];
    const int32_t    pos = b.pos[i];
    if (pos > q.n_shown) {
        fail(abi::ERROR_CALL_ORDER, "batch.pos[%d] is %d, but process has been given only %d tokens of sequence %d: it must see every batch of the target",
             i, pos, q.n_shown, seq);
    }
    if (pos < q.n_shown && s.has_boundary && pos > 0) {
        fail(abi::ERROR_CALL_ORDER, "batch.pos[%d] is %d, but sequence %d stands at %d: strategies that carry a hidden row cannot step back; seq_clear it and start again",
             i, pos, seq, q.n_shown);
    }
}

namespace impl {

int32_t begin(spec & s, int32_t seq_id, const int32_t * tokens, size_t n_tokens) {
    sequence & q = callers_sequence(s, seq_id);
    for (size_t i = 0; i < n_tokens; ++i) {
        if (tokens[i] < 0 || tokens[i] >= s.n_vocab) {
            fail(abi::ERROR_INVALID_ARGUMENT, "tokens[%zu] is %d, but the vocabulary has tokens 0 to %d", i, tokens[i], s.n_vocab - 1);
        }
    }
    if (q.n_shown != (int32_t) n_tokens) {
        fail(abi::ERROR_CALL_ORDER, "%zu tokens are given, but process has been shown %d of sequence %d: decode the prompt without its last token, process each batch, then begin",
             n_tokens, q.n_shown, seq_id);
    }
    const bool continues = q.history.size() <= n_tokens && std::equal(q.history.begin(), q.history.end(), tokens);
    q.driver             = driven_by::caller;
    q.history.assign(tokens, tokens + n_tokens);
    q.drafted   = false;
    q.requested = -1;
    q.draft.clear();
    if (s.driver) {
        if (!continues) {
            driver::forget_history(s.driver.get(), seq_id);
        }
        driver::begin(s.driver.get(), seq_id, q.history);
    }
    return abi::OK;
}

int32_t process(spec & s, const abi::batch & b) {
    if (b.n_tokens == 0) {
        return abi::OK;
    }
    if (!b.pos) {
        fail(abi::ERROR_INVALID_ARGUMENT, "batch.pos is NULL: process needs the positions that the target decoded");
    }
    require_batch(s, b);
    if (b.n_tokens > (int32_t) llama_n_batch(s.ctx_tgt)) {
        fail(abi::ERROR_INVALID_ARGUMENT, "batch.n_tokens is %d, but the target's n_batch is %u: it cannot have decoded that in one call", b.n_tokens, llama_n_batch(s.ctx_tgt));
    }
    llama_memory_t mem = llama_get_memory(s.ctx_tgt);
    for (int32_t i = 0; i < b.n_tokens; ++i) {
        const int32_t seq = seq_of(b, i);
        if (i == 0 || seq_of(b, i - 1) != seq) {
            callers_sequence(s, seq);
            require_continuation(s, b, i, seq);
        }
        if (i + 1 == b.n_tokens || seq_of(b, i + 1) != seq) {
            if (llama_memory_seq_pos_max(mem, seq) < b.pos[i]) {
                fail(abi::ERROR_CALL_ORDER, "the target holds sequence %d up to position %d, but batch.pos[%d] is %d: decode the batch on the target before process",
                     seq, (int32_t) llama_memory_seq_pos_max(mem, seq), i, b.pos[i]);
            }
        }
    }
    s.batch.clear();
    for (int32_t i = 0; i < b.n_tokens; ++i) {
        const int32_t seq = seq_of(b, i);
        if ((i == 0 || seq_of(b, i - 1) != seq) && b.pos[i] < s.at(seq).n_shown) {
            s.at(seq).n_shown = b.pos[i];
            if (s.draft) {
                s.draft.take_back(seq, b.pos[i]);
            }
            if (s.driver && b.pos[i] == 0) {
                driver::forget(s.driver.get(), seq);
            }
        }
        s.batch.add(b.token[i], b.pos[i], seq, b.output ? b.output[i] != 0 : i + 1 == b.n_tokens);
    }
    try {
        show(s);
    } catch (...) {
        for (int32_t i = 0; i < b.n_tokens; ++i) {
            s.at(seq_of(b, i)).lost = true;
        }
        throw;
    }
    for (int32_t i = 0; i < b.n_tokens; ++i) {
        sequence & q  = s.at(seq_of(b, i));
        q.driver      = driven_by::caller;
        q.n_shown     = b.pos[i] + 1;
        q.boundary_at = q.n_shown;
        if (s.draft) {
            s.draft.added(seq_of(b, i), 1);
        }
    }
    return abi::OK;
}

int32_t draft_request(spec & s, int32_t seq_id, int32_t pos0, int32_t id_last, int32_t n_max) {
    sequence & q = callers_sequence(s, seq_id);
    if (q.drafted) {
        fail(abi::ERROR_CALL_ORDER, "the last round of sequence %d is not ended: call accept, with 0 if nothing of the draft was right", seq_id);
    }
    if (id_last >= s.n_vocab) {
        fail(abi::ERROR_INVALID_ARGUMENT, "id_last is %d, but the vocabulary has tokens 0 to %d", id_last, s.n_vocab - 1);
    }
    if (pos0 != q.n_shown) {
        fail(abi::ERROR_CALL_ORDER, "pos0 is %d, but process has been shown %d tokens of sequence %d: it must see every batch of the target before the next draft",
             pos0, q.n_shown, seq_id);
    }
    if ((int32_t) q.history.size() != pos0) {
        fail(abi::ERROR_CALL_ORDER, "pos0 is %d, but begin and accept have given %zu tokens of sequence %d: call begin with the evaluated prompt first",
             pos0, q.history.size(), seq_id);
    }
    q.requested    = std::max(0, std::min(n_max, draft_room(s, pos0)));
    q.pos0         = pos0;
    q.request_last = id_last;
    return abi::OK;
}

int32_t draft(spec & s) {
    s.requests.clear();
    bool any = false;
    for (int32_t seq = 0; seq < s.n_seq; ++seq) {
        sequence & q = s.at(seq);
        if (q.requested < 0) {
            continue;
        }
        any = true;
        q.draft.clear();
        q.strategy = -1;
        q.drafted  = true;
        if (q.requested > 0 && s.driver) {
            s.requests.push_back({seq, q.requested, q.pos0, q.request_last, &q.history, &q.draft, &q.lessons});
        }
        q.requested = -1;
    }
    if (!any) {
        return abi::NOTHING;
    }
    if (!s.requests.empty()) {
        draft_now(s);
    }
    return abi::OK;
}

int32_t get_draft(spec & s, int32_t seq_id, int32_t * out, size_t capacity, size_t * n_out) {
    const sequence & q = callers_sequence(s, seq_id);
    *n_out             = q.draft.size();
    if (capacity < q.draft.size()) {
        fail(abi::ERROR_BUFFER_TOO_SMALL, "the draft has %zu tokens, but there is room for %zu", q.draft.size(), capacity);
    }
    std::copy(q.draft.begin(), q.draft.end(), out);
    return abi::OK;
}

int32_t accept(spec & s, int32_t seq_id, int32_t n_accepted) {
    sequence & q = callers_sequence(s, seq_id);
    if (!q.drafted) {
        if (n_accepted == 0) {
            return abi::OK;
        }
        fail(abi::ERROR_CALL_ORDER, "n_accepted is %d, but sequence %d has no draft: call draft_request and draft first, and accept once per round", n_accepted, seq_id);
    }
    if (n_accepted > (int32_t) q.draft.size()) {
        fail(abi::ERROR_INVALID_ARGUMENT, "n_accepted is %d, but the draft of sequence %d has %zu tokens", n_accepted, seq_id, q.draft.size());
    }
    const int32_t n = q.pos0 + 1 + n_accepted;
    if (q.n_shown < n) {
        fail(abi::ERROR_CALL_ORDER, "process has been shown %d tokens of sequence %d, but %d are accepted: decode and process the last token and the draft before accept",
             q.n_shown, seq_id, n);
    }
    if (s.driver) {
        driver::accept(s.driver.get(), seq_id, n_accepted, n_accepted);
    }
    q.n_verified = n_accepted;
    q.emitted.assign(q.draft.begin(), q.draft.begin() + n_accepted);
    count_round(q, (size_t) n_accepted + 1);
    q.history.push_back(q.request_last);
    q.history.insert(q.history.end(), q.draft.begin(), q.draft.begin() + n_accepted);
    q.boundary_at = n;
    q.n_shown     = n;
    if (s.draft) {
        s.draft.take_back(seq_id, n);
        if (s.draft.n(seq_id) < n && s.draft.kind() != rollback_kind::remove) {
            q.lost = true; // the target is not ours to evaluate again
        }
    }
    q.drafted = false;
    q.draft.clear();
    q.emitted.clear();
    return abi::OK;
}

int32_t hidden_enable(llama_context * ctx, int32_t mode) {
    driver::set_hidden_rows(ctx, mode != abi::HIDDEN_MODE_OFF, mode == abi::HIDDEN_MODE_OUTPUTS);
    return abi::OK;
}

int32_t hidden_row(llama_context * ctx, int32_t index, const float ** row, int32_t * n_embd) {
    *row = driver::hidden_row(ctx, index);
    if (!*row) {
        fail(abi::ERROR_CALL_ORDER, "the context has no hidden row %d: switch them on with hidden_enable, then decode a batch that has this token", index);
    }
    *n_embd = llama_model_n_embd_out(llama_get_model(ctx));
    return abi::OK;
}

} // namespace impl
} // namespace spb
