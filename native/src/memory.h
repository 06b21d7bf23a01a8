// What one context remembers of each sequence, and how a rejected tail leaves it.
#pragma once

#include "llama.h"

#include <cstdint>
#include <vector>

namespace spb {

// Ways to take tokens back, in the order of their cost. The values are those of the ABI's `rollback`.
enum class rollback_kind : int32_t { remove, snapshots, checkpoint };

// How `ctx` can take back the tail of a sequence.
rollback_kind rollback_of(const llama_context * ctx);

// Counts the tokens of each sequence in a context's memory and takes tails back.
//
// Taking back never fails half-way: what cannot be restored is cleared, `n(seq)` says what is left, and the tokens
// behind it are evaluated again before the next draft.
class context_memory {
public:
    context_memory() = default;
    explicit context_memory(llama_context * ctx);

    explicit operator bool() const { return ctx != nullptr; }

    llama_context * context() const { return ctx; }
    rollback_kind   kind() const { return rollback; }

    int32_t n(int32_t seq) const { return seqs[seq].n; }

    // Tokens that can be taken back after a decode that adds `n_new` tokens, without a checkpoint.
    int32_t free_rollback(int32_t n_new) const;

    // A decode added `n_new` tokens.
    void added(int32_t seq, int32_t n_new);

    // A decode of several sequences may have moved the state of any, without its snapshots: none is of use any more. The
    // sequences of that decode are counted with `added` after this.
    void snapshots_moved();

    // Remembers the present state, so that `take_back` can return to it.
    void checkpoint(int32_t seq);

    // Keeps at most the first `n_keep` tokens; a context that cannot stop there goes back further.
    void take_back(int32_t seq, int32_t n_keep);

    // Removes cells at and behind `pos` that were never counted, such as a draft's own tokens.
    void drop_uncounted(int32_t seq, int32_t pos);

    void clear(int32_t seq);

    // Reads from the context how much is there, after a decode that stopped half-way.
    void recount(int32_t seq);

    // Whether every token before position `n` that attention may look at is still there (a sliding window drops old ones).
    bool holds_window(int32_t seq, int32_t n) const;

    // `dst` becomes what `src` is. False if the context cannot copy.
    bool copy(int32_t src, int32_t dst);

    // Sets the count after a state was loaded.
    void loaded(int32_t seq, int32_t n);

private:
    struct entry {
        int32_t              n      = 0;     // tokens in memory
        int32_t              n_last = 0;     // of these, tokens of the last decode: snapshots reach no further back
        bool                 taken  = false; // a snapshot was used since the last decode
        int32_t              n_saved = -1;   // tokens at the checkpoint
        std::vector<uint8_t> saved;
    };

    llama_context *    ctx      = nullptr;
    llama_memory_t     mem      = nullptr;
    rollback_kind      rollback = rollback_kind::remove;
    int32_t            n_rs     = 0;
    std::vector<entry> seqs;
};

} // namespace spb
