// A sequence as bytes: its tokens, both memories and the rows that the strategies carry.
#include "identity.h"
#include "impl.h"
#include "spec.h"

#include <algorithm>
#include <cstring>

namespace spb {

namespace {

constexpr uint32_t MAGIC  = 0x53425053; // "SPBS"
constexpr uint32_t LAYOUT = 2;          // raised with every change of what follows

uint64_t fnv1a(const void * data, size_t n, uint64_t hash = 14695981039346656037ull) {
    const auto * bytes = static_cast<const uint8_t *>(data);
    for (size_t i = 0; i < n; ++i) {
        hash = (hash ^ bytes[i]) * 1099511628211ull;
    }
    return hash;
}

template <class T> uint64_t mix(uint64_t hash, const T & value) {
    return fnv1a(&value, sizeof(value), hash);
}

uint64_t fingerprint(const llama_context * ctx, uint64_t hash) {
    const llama_model * model    = llama_get_model(ctx);
    char                desc[128] = {};
    llama_model_desc(model, desc, sizeof(desc));
    hash = fnv1a(desc, std::strlen(desc), hash);
    hash = mix(hash, llama_model_n_params(model));
    hash = mix(hash, llama_model_size(model));
    hash = mix(hash, llama_vocab_n_tokens(llama_model_get_vocab(model)));
    hash = mix(hash, llama_model_n_layer(model));
    return mix(hash, llama_model_n_embd(model));
}

// Both models and the strategies: a state of other ones does not fit.
uint64_t fingerprint(const spec & s) {
    uint64_t hash = fingerprint(s.ctx_tgt, 14695981039346656037ull);
    if (draft_strategy(s.strategies)) {
        hash = fingerprint(s.ctx_dft, hash);
    }
    for (const strategy_info * info : s.strategies) {
        hash = fnv1a(info->name, std::strlen(info->name), hash);
    }
    return hash;
}

struct header {
    uint32_t magic, layout;
    char     llama[16]; // commit of llama.cpp: it lays out the memories
    uint64_t models;
    int32_t  id_last, finish, n_draft_max, n_predict_left, n_shown, boundary_at, n_target, n_draft;
    uint64_t n_history, n_lessons, target_bytes, draft_bytes, boundary_bytes;
};

struct bytes : std::vector<uint8_t> {
    void put(const void * data, size_t n) {
        const auto * p = static_cast<const uint8_t *>(data);
        insert(end(), p, p + n);
    }
};

std::vector<uint8_t> memory_of(llama_context * ctx, int32_t seq) {
    std::vector<uint8_t> data(llama_state_seq_get_size(ctx, seq));
    data.resize(llama_state_seq_get_data(ctx, data.data(), data.size(), seq));
    return data;
}

bytes saved(spec & s, int32_t seq) {
    const sequence &     q = s.at(seq);
    std::vector<uint8_t> target, draft, boundary;
    if (s.target.n(seq) > 0) {
        target = memory_of(s.ctx_tgt, seq);
    }
    if (s.draft && q.n_shown > 0) {
        draft = memory_of(s.ctx_dft, seq);
    }
    if (s.driver && q.n_shown > 0) {
        driver::save_boundary(s.driver.get(), seq, boundary);
    }
    const size_t n_lessons = s.driver && driver::has_lessons(s.driver.get(), seq) ? q.lessons.size() : 0;
    header       h         = {MAGIC, LAYOUT, {}, fingerprint(s), q.id_last, q.finish, q.n_draft_max, q.n_predict_left, q.n_shown, q.boundary_at,
                              s.target.n(seq), s.draft ? s.draft.n(seq) : 0, q.history.size(), n_lessons, target.size(), draft.size(), boundary.size()};
    std::strncpy(h.llama, llama_commit(), sizeof(h.llama) - 1);
    bytes out;
    out.put(&h, sizeof(h));
    out.put(q.history.data(), q.history.size() * sizeof(llama_token));
    out.put(q.lessons.data(), n_lessons * sizeof(int32_t));
    out.put(target.data(), target.size());
    out.put(draft.data(), draft.size());
    out.put(boundary.data(), boundary.size());
    const uint64_t sum = fnv1a(out.data(), out.size());
    out.put(&sum, sizeof(sum));
    return out;
}

// The header of a state that is whole, of this version and of these models.
header verified(const spec & s, const uint8_t * data, size_t n) {
    header   h;
    uint64_t sum;
    if (n < sizeof(h) + sizeof(sum)) {
        fail(abi::ERROR_STATE, "the state has %zu bytes, fewer than its header", n);
    }
    std::memcpy(&h, data, sizeof(h));
    if (h.magic != MAGIC) {
        fail(abi::ERROR_STATE, "the bytes are not a saved sequence");
    }
    if (h.layout != LAYOUT) {
        fail(abi::ERROR_STATE, "the state has layout %u, this library reads layout %u", h.layout, LAYOUT);
    }
    std::memcpy(&sum, data + n - sizeof(sum), sizeof(sum));
    if (fnv1a(data, n - sizeof(sum)) != sum) {
        fail(abi::ERROR_STATE, "the state is damaged: its checksum does not match");
    }
    if (std::strncmp(h.llama, llama_commit(), sizeof(h.llama) - 1) != 0) {
        fail(abi::ERROR_STATE, "the state was saved with llama.cpp %.*s, this library has %s", (int) sizeof(h.llama), h.llama, llama_commit());
    }
    if (h.models != fingerprint(s)) {
        fail(abi::ERROR_STATE, "the state was saved with other models or strategies");
    }
    if (h.n_history > (uint64_t) s.n_ctx_seq) {
        fail(abi::ERROR_STATE, "the state holds %llu tokens, but a sequence of this context has room for %d", (unsigned long long) h.n_history, s.n_ctx_seq);
    }
    const uint64_t size = sizeof(h) + (h.n_history + h.n_lessons) * sizeof(int32_t) + h.target_bytes + h.draft_bytes + h.boundary_bytes + sizeof(sum);
    if (size != n || h.n_lessons > h.n_history + 1) {
        fail(abi::ERROR_STATE, "the state has %zu bytes, its parts %llu", n, (unsigned long long) size);
    }
    return h;
}

// Numbers from the bytes of a state, which may stand at any address.
std::vector<int32_t> numbers(const uint8_t * data, uint64_t n) {
    std::vector<int32_t> out((size_t) n);
    if (n > 0) {
        std::memcpy(out.data(), data, out.size() * sizeof(int32_t));
    }
    return out;
}

} // namespace

namespace impl {

int32_t state_save(spec & s, int32_t seq_id, uint8_t * out, size_t capacity, size_t * n_out) {
    refuse_callers_sequence(s.at(seq_id), seq_id);
    refuse_open_round(s.at(seq_id), seq_id);
    settle(s, seq_id);
    const bytes data = saved(s, seq_id);
    *n_out           = data.size();
    if (capacity < data.size()) {
        fail(abi::ERROR_BUFFER_TOO_SMALL, "the state has %zu bytes, but there is room for %zu", data.size(), capacity);
    }
    std::copy(data.begin(), data.end(), out);
    return abi::OK;
}

int32_t state_load(spec & s, int32_t seq_id, const uint8_t * data, size_t n_bytes) {
    refuse_callers_sequence(s.at(seq_id), seq_id);
    refuse_open_round(s.at(seq_id), seq_id);
    const header               h        = verified(s, data, n_bytes);
    const llama_tokens         history  = numbers(data + sizeof(h), h.n_history);
    const uint8_t *            behind   = data + sizeof(h) + h.n_history * sizeof(llama_token);
    const std::vector<int32_t> lessons  = numbers(behind, h.n_lessons);
    if (!std::is_sorted(lessons.begin(), lessons.end()) || (!lessons.empty() && (lessons.front() < 1 || lessons.back() > (int64_t) h.n_history + 1))) {
        fail(abi::ERROR_STATE, "the state says that ngram-cache learnt tokens that it does not hold");
    }
    const uint8_t * target   = behind + h.n_lessons * sizeof(int32_t);
    const uint8_t * draft    = target + h.target_bytes;
    const uint8_t * boundary = draft + h.draft_bytes;

    drop_memories(s, seq_id);
    sequence & q = s.at(seq_id);
    bool       ok = h.target_bytes == 0 || llama_state_seq_set_data(s.ctx_tgt, target, h.target_bytes, seq_id) == h.target_bytes;
    ok            = ok && (h.draft_bytes == 0 || llama_state_seq_set_data(s.ctx_dft, draft, h.draft_bytes, seq_id) == h.draft_bytes);
    ok            = ok && (h.boundary_bytes == 0 || driver::load_boundary(s.driver.get(), seq_id, boundary, h.boundary_bytes));
    if (!ok) {
        drop_memories(s, seq_id); // its former tokens are evaluated again when they are needed
        fail(abi::ERROR_STATE, "the contexts do not take the saved memory: they were made with other parameters, such as the cache type or n_rs_seq");
    }
    if (s.driver) {
        driver::forget_history(s.driver.get(), seq_id);
        llama_tokens tokens = history;
        tokens.push_back(h.id_last);
        driver::teach(s.driver.get(), seq_id, tokens, lessons);
    }
    q.driver         = h.id_last == LLAMA_TOKEN_NULL ? driven_by::nobody : driven_by::loop;
    q.history.assign(history.begin(), history.end()); // into the memory that it has
    q.lessons.assign(lessons.begin(), lessons.end());
    q.id_last        = h.id_last;
    q.finish         = h.finish;
    q.n_draft_max    = h.n_draft_max;
    q.n_predict_left = h.n_predict_left;
    q.n_shown        = h.n_shown;
    q.boundary_at    = h.boundary_at;
    q.begin_pending  = true;
    q.emitted.clear();
    q.draft.clear();
    s.target.loaded(seq_id, h.n_target);
    if (s.draft) {
        s.draft.loaded(seq_id, h.n_draft);
    }
    const bool exact = std::all_of(s.strategies.begin(), s.strategies.end(), [](const strategy_info * info) { return info->saved; });
    return exact ? abi::OK : abi::COLD;
}

} // namespace impl
} // namespace spb
