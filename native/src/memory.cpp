#include "memory.h"

#include "driver_access.h"

#include <algorithm>

namespace spb {

rollback_kind rollback_of(const llama_context * ctx) {
    const llama_model * model = llama_get_model(ctx);
    if (driver::context_type(ctx) == LLAMA_CONTEXT_TYPE_MTP) {
        return rollback_kind::remove; // its layers are the heads alone, and those are attention
    }
    if (!llama_model_is_recurrent(model) && !llama_model_is_hybrid(model)) {
        return rollback_kind::remove;
    }
    return llama_n_rs_seq(ctx) > 0 ? rollback_kind::snapshots : rollback_kind::checkpoint;
}

context_memory::context_memory(llama_context * ctx)
    : ctx(ctx), mem(llama_get_memory(ctx)), rollback(rollback_of(ctx)), n_rs((int32_t) llama_n_rs_seq(ctx)), seqs(llama_n_seq_max(ctx)) {}

int32_t context_memory::free_rollback(int32_t n_new) const {
    switch (rollback) {
        case rollback_kind::remove:     return n_new;
        case rollback_kind::snapshots:  return std::min(n_rs, n_new - 1);
        case rollback_kind::checkpoint: return 0;
    }
    return 0;
}

void context_memory::added(int32_t seq, int32_t n_new) {
    entry & e = seqs[seq];
    e.n += n_new;
    e.n_last = n_new;
    e.taken  = false;
}

void context_memory::snapshots_moved() {
    for (entry & e : seqs) {
        e.n_last = 0;
    }
}

void context_memory::checkpoint(int32_t seq) {
    entry &      e    = seqs[seq];
    const size_t size = llama_state_seq_get_size_ext(ctx, seq, LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
    e.saved.resize(size);
    const size_t got = llama_state_seq_get_data_ext(ctx, e.saved.data(), size, seq, LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
    e.n_saved        = got == size ? e.n : -1;
}

void context_memory::take_back(int32_t seq, int32_t n_keep) {
    entry & e = seqs[seq];
    if (n_keep >= e.n) {
        return;
    }
    if (n_keep <= 0) {
        clear(seq);
        return;
    }
    const int32_t n_back = e.n - n_keep;
    if (rollback == rollback_kind::remove || (!e.taken && n_back <= free_rollback(e.n_last))) {
        if (llama_memory_seq_rm(mem, seq, n_keep, -1)) {
            e.taken  = rollback == rollback_kind::snapshots;
            e.n      = n_keep;
            e.n_last = 0;
            return;
        }
    }
    if (e.n_saved > 0 && e.n_saved <= n_keep) {
        const size_t read = llama_state_seq_set_data_ext(ctx, e.saved.data(), e.saved.size(), seq, LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
        if (read == e.saved.size() && llama_memory_seq_rm(mem, seq, e.n_saved, -1)) {
            e.n      = e.n_saved;
            e.n_last = 0;
            e.taken  = true;
            return;
        }
    }
    clear(seq);
}

void context_memory::drop_uncounted(int32_t seq, int32_t pos) {
    if (!llama_memory_seq_rm(mem, seq, pos, -1)) {
        seqs[seq].n = std::max(seqs[seq].n, (int32_t) llama_memory_seq_pos_max(mem, seq) + 1);
        take_back(seq, pos);
    }
}

void context_memory::clear(int32_t seq) {
    llama_memory_seq_rm(mem, seq, -1, -1);
    seqs[seq] = entry{};
}

void context_memory::recount(int32_t seq) {
    entry & e = seqs[seq];
    e.n       = (int32_t) llama_memory_seq_pos_max(mem, seq) + 1;
    e.n_last  = 0;
    e.taken   = true;
}

bool context_memory::holds_window(int32_t seq, int32_t n) const {
    const int32_t n_swa = llama_model_n_swa(llama_get_model(ctx));
    if (n_swa <= 0 || rollback != rollback_kind::remove) {
        return true;
    }
    return (int32_t) llama_memory_seq_pos_min(mem, seq) <= std::max(0, n - n_swa);
}

bool context_memory::copy(int32_t src, int32_t dst) {
    clear(dst);
    if (seqs[src].n == 0) {
        return true;
    }
    if (rollback == rollback_kind::remove && driver::kv_unified(ctx)) {
        llama_memory_seq_cp(mem, src, dst, -1, -1);
    } else {
        // llama.cpp copies between streams at the next decode only, so that a state saved or loaded before it is wrong, and
        // copies of recurrent cells are shared and roll back together: write the state out instead
        std::vector<uint8_t> data(llama_state_seq_get_size(ctx, src));
        if (llama_state_seq_get_data(ctx, data.data(), data.size(), src) != data.size() ||
            llama_state_seq_set_data(ctx, data.data(), data.size(), dst) != data.size()) {
            clear(dst);
            return false;
        }
    }
    loaded(dst, seqs[src].n);
    return true;
}

void context_memory::loaded(int32_t seq, int32_t n) {
    seqs[seq]       = entry{};
    seqs[seq].n     = n;
    seqs[seq].taken = true;
}

} // namespace spb
