// From a prompt to pieces of text: rounds, stop strings, whole characters.
#include "impl.h"
#include "session.h"

#include "ggml.h"

#include <algorithm>

namespace spb {

// Tokens of the prompt that the sequence already holds.
static int32_t common_prefix(const sequence & q, const int32_t * tokens, size_t n_tokens) {
    const auto limit = (int32_t) std::min((size_t) q.n_tokens(), n_tokens);
    for (int32_t i = 0; i < limit; ++i) {
        const llama_token have = i < (int32_t) q.history.size() ? q.history[(size_t) i] : q.id_last;
        if (have != tokens[i]) {
            return i;
        }
    }
    return limit;
}

static std::vector<std::string> stop_strings(const abi::gen_params & p) {
    std::vector<std::string> stops;
    for (size_t i = 0; i < p.n_stops; ++i) {
        stops.emplace_back(p.stops[i]);
        if (stops.back().empty()) {
            fail(abi::ERROR_INVALID_ARGUMENT, "gen_params.stops[%zu] is empty: it would stop before the first token", i);
        }
    }
    return stops;
}

// Ends the generation and releases what was kept back, unless it belongs to a stop string.
static void finish(generation & gen, int32_t why) {
    gen.ended         = true;
    gen.result.finish = why;
    if (why != abi::FINISH_STOP) {
        gen.held.text += gen.stops.feed(gen.utf8.finish());
        gen.held.text += gen.stops.finish();
    }
    if (!gen.held.text.empty() || gen.held.n_tokens > 0) {
        gen.ready.push_back(std::move(gen.held));
    }
    gen.held = {};
}

// Adds one token; true when a stop string is complete.
static bool add_token(session & s, generation & gen, llama_token token, bool drafted) {
    const std::string bytes = common_token_to_piece(s.sp->vocab, token, false);
    gen.held.text += gen.stops.feed(gen.utf8.feed(bytes.data(), bytes.size()));
    gen.held.n_tokens++;
    gen.held.n_tokens_draft += drafted;
    gen.held.token = token;
    gen.result.n_emitted++;
    gen.result.stop_index = gen.stops.found();
    if (!gen.held.text.empty() && gen.result.stop_index < 0) {
        gen.ready.push_back(std::move(gen.held));
        gen.held = {};
    }
    return gen.result.stop_index >= 0;
}

// One round of the generation's sequence. Returns OK or CANCELLED.
static int32_t advance(session & s) {
    generation & gen = s.gen;
    spec &       sp  = *s.sp;
    sequence &   q   = sp.at(gen.seq);
    if (!q.can_go_on()) {
        finish(gen, q.finish);
        return abi::OK;
    }
    sp.active.assign(1, gen.seq);
    q.emitted.clear();
    const int32_t status = run_round(sp);
    if (status == abi::CANCELLED) {
        finish(gen, abi::FINISH_CANCELLED);
        return status;
    }
    if (status == abi::CONTEXT_FULL || q.finish == abi::FINISH_CONTEXT_FULL) {
        finish(gen, abi::FINISH_CONTEXT_FULL);
        return abi::OK;
    }
    int32_t n_keep = 0;
    bool    stop   = false;
    for (llama_token token : q.emitted) {
        n_keep++;
        stop = add_token(s, gen, token, n_keep <= q.n_verified);
        if (stop) {
            break;
        }
    }
    commit(sp, gen.seq, n_keep);
    if (stop) {
        finish(gen, abi::FINISH_STOP);
    } else if (!q.can_go_on()) {
        finish(gen, q.finish);
    }
    return abi::OK;
}

static void update_result(session & s) {
    generation &     gen  = s.gen;
    const counters & now  = s.sp->at(gen.seq).total;
    gen.result.n_drafted  = now.n_drafted - gen.before.n_drafted;
    gen.result.n_accepted = now.n_accepted - gen.before.n_accepted;
}

namespace impl {

int32_t session_start(session & s, const int32_t * tokens, size_t n_tokens, const abi::gen_params * params) {
    const abi::gen_params p = params ? *params : abi::default_gen_params();
    if (n_tokens == 0) {
        fail(abi::ERROR_INVALID_ARGUMENT, "n_tokens is 0: a generation needs at least one token to go on from");
    }
    spec & sp = *s.sp;
    abi::batch batch{};
    batch.n_tokens = (int32_t) n_tokens;
    batch.token    = tokens;
    const std::vector<int32_t> seq_ids(n_tokens, p.seq_id);
    batch.seq_id = seq_ids.data();
    require_batch(sp, batch);
    generation gen;
    gen.stops = stop_matcher(stop_strings(p));
    gen.seq   = p.seq_id;

    sequence & q = sp.at(p.seq_id);
    if (q.open) {
        spb::commit(sp, p.seq_id, (int32_t) q.emitted.size());
    }
    const int64_t t0     = ggml_time_us();
    const int32_t common = p.reuse_prefix ? common_prefix(q, tokens, n_tokens) : 0;
    if (common > 0) {
        truncate(sp, p.seq_id, common);
    } else {
        clear(sp, p.seq_id);
    }
    seq_set_limits(sp, p.seq_id, -1, p.n_predict);
    q.finish = p.n_predict == 0 ? abi::FINISH_LIMIT : abi::FINISH_NONE;
    if ((size_t) p.seq_id < s.samplers.size()) {
        llama_sampler_reset(s.samplers[(size_t) p.seq_id].get());
        q.sampler.set(s.samplers[(size_t) p.seq_id].get(), sp.n_vocab);
    }
    s.gen = generation();
    if ((size_t) common < n_tokens) {
        batch.n_tokens = (int32_t) n_tokens - common;
        batch.token    = tokens + common;
        const int32_t status = decode(sp, &batch);
        if (status != abi::OK) {
            return status;
        }
    }
    gen.started           = true;
    gen.before            = q.total;
    gen.result.n_prompt   = (int32_t) n_tokens;
    gen.result.n_reused   = std::min(common, (int32_t) n_tokens - 1);
    gen.result.stop_index = -1;
    gen.result.t_prompt_us = (uint64_t) (ggml_time_us() - t0);
    s.gen                 = std::move(gen);
    return abi::OK;
}

int32_t session_next(session & s, abi::piece & out) {
    generation & gen = s.gen;
    if (!gen.started) {
        fail(abi::ERROR_CALL_ORDER, "no generation is running: call session_start first");
    }
    const int64_t t0     = ggml_time_us();
    int32_t       status = abi::OK;
    while (gen.ready.empty() && !gen.ended && status == abi::OK) {
        status = advance(s);
    }
    gen.result.t_generate_us += (uint64_t) (ggml_time_us() - t0);
    update_result(s);
    if (gen.ready.empty()) {
        return status != abi::OK ? status : gen.result.finish == abi::FINISH_CANCELLED ? abi::CANCELLED : abi::END;
    }
    ready_piece & next = gen.ready.front();
    gen.current        = std::move(next.text);
    out.n_tokens       = next.n_tokens;
    out.n_tokens_draft = next.n_tokens_draft;
    out.token          = next.token;
    out.text           = gen.current.c_str();
    out.n_bytes        = gen.current.size();
    gen.ready.pop_front();
    return abi::OK;
}

int32_t session_result(session & s, abi::gen_result & out) {
    if (!s.gen.started) {
        fail(abi::ERROR_CALL_ORDER, "no generation was started: call session_start first");
    }
    const uint32_t size = out.struct_size;
    out                 = s.gen.result;
    out.struct_size     = size;
    return abi::OK;
}

int32_t session_generate(session & s, const int32_t * tokens, size_t n_tokens, const abi::gen_params * params, abi::piece_callback callback, void * user,
                         abi::gen_result & out) {
    int32_t status = session_start(s, tokens, n_tokens, params);
    if (status != abi::OK) {
        return status;
    }
    abi::piece piece{};
    piece.struct_size = sizeof(piece);
    while ((status = session_next(s, piece)) == abi::OK) {
        if (callback && callback(&piece, user) != 0) {
            s.gen.ready.clear();
            finish(s.gen, abi::FINISH_CANCELLED);
            s.gen.ready.clear();
        }
    }
    session_result(s, out);
    return status;
}

int32_t session_cancel(session & s) {
    s.sp->cancelled.store(true, std::memory_order_release);
    return abi::OK;
}

} // namespace impl
} // namespace spb
