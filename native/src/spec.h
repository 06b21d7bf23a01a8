// The object behind `llama_speculative`: two borrowed contexts, the strategies, and the sequences.
#pragma once

#include "barrier.h"
#include "driver_access.h"
#include "memory.h"
#include "params.h"
#include "sampling.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace spb {

// Counters of one sequence, or of one strategy on it.
struct counters {
    uint64_t n_rounds = 0, n_drafts = 0, n_drafted = 0, n_accepted = 0, n_emitted = 0;

    void add(const counters & other);
};

// Counters that belong to the whole object: one pass serves all sequences.
struct totals {
    uint64_t n_decodes = 0, t_draft_us = 0, t_decode_us = 0, t_process_us = 0, t_sample_us = 0;
};

// Who drives a sequence. The loop decodes on the target itself, with the primitives the caller does.
enum class driven_by : uint8_t { nobody, loop, caller };

struct sequence {
    driven_by driver = driven_by::nobody;

    // Committed tokens. The last one is kept apart: it is not evaluated until the next round.
    llama_tokens history;
    llama_token  id_last = LLAMA_TOKEN_NULL;
    int32_t      finish  = abi::FINISH_NONE;
    bool         lost    = false;

    int32_t n_shown       = 0;     // tokens that the strategies have been shown
    int32_t boundary_at   = 0;     // the row that they carry to the next batch is that of token boundary_at - 1
    bool    begin_pending = false; // tell the strategies that a generation starts before the next draft

    int32_t n_draft_max    = -1; // limits set by the caller, -1 for none
    int32_t n_predict_left = -1;

    sequence_sampler sampler;

    // The last round. It is open from its verification to its commit.
    bool                 open     = false;
    llama_tokens         draft;            // what was verified
    int32_t              strategy = -1;    // index of the strategy that drafted, or -1
    int32_t              n_verified = 0;   // draft tokens that the target agreed with
    llama_tokens         emitted;          // the accepted part of the draft, then one sampled token
    int32_t              row0     = 0;     // index of the first row of logits in the target's output
    std::vector<float>   rows;             // copies of the rows, when another part of the round overwrote them
    bool                 sampler_ended = false;

    // Primitives: what was asked for, and what waits for `accept`.
    int32_t     requested    = -1; // n_max of the request, -1 for none
    int32_t     pos0         = 0;
    llama_token request_last = LLAMA_TOKEN_NULL;
    bool        drafted      = false;

    std::vector<counters> by_strategy;
    counters              total;

    // Lengths at which ngram-cache learnt: see driver::teach.
    std::vector<int32_t> lessons;

    bool    empty() const { return id_last == LLAMA_TOKEN_NULL; }
    int32_t n_tokens() const { return empty() ? 0 : (int32_t) history.size() + 1; }
    bool    can_go_on() const { return !empty() && !lost && finish == abi::FINISH_NONE; }
};

// Sequences that are verified in one batch of the target.
struct part {
    size_t  begin, end; // indices into `active`
    int32_t n_tokens;
};

// The claim of a live spec on its target: two drivers on one context would take tokens back under each other.
class target_claim {
public:
    explicit target_claim(const llama_context * ctx); // throws ERROR_BUSY
    ~target_claim();
    target_claim(const target_claim &)             = delete;
    target_claim & operator=(const target_claim &) = delete;

private:
    const llama_context * ctx;
};

struct spec : object {
    spec(llama_context * ctx_tgt, llama_context * ctx_dft, const abi::params & p);
    ~spec();

    llama_context *     ctx_tgt;
    llama_context *     ctx_dft;
    const llama_vocab * vocab;
    int32_t             n_vocab;
    int32_t             n_seq;
    int32_t             n_ctx_seq;

    std::unique_ptr<target_claim> claim; // taken when the contexts are found to fit

    context_memory target;
    context_memory draft; // empty without a draft context, and where it shares the target's memory

    std::vector<const strategy_info *> strategies; // in the order of the driver
    std::string                        names;      // of them
    const char *                       reason = ""; // why the draft strategy among them is this one
    driver::handle                     driver;     // null with no strategy: plain decoding
    bool                               follows_rows = false; // a strategy reads hidden rows of the target
    bool                               has_boundary = false; // and carries one from batch to batch
    int32_t                            n_block = 0;          // positions that a draft evaluates at once, however few are asked for

    std::vector<sequence> seqs;
    totals                sums;
    bool                  shift_pending = false; // llama.cpp moves positions in memory at the next decode

    // Kept from call to call, so that a round allocates nothing.
    common_batch                 batch; // of the target
    std::vector<int32_t>         active;
    std::vector<part>            parts;
    std::vector<driver::request> requests;

    std::atomic<bool> cancelled{false};

    sequence & at(int32_t seq) { return seqs[(size_t) seq]; }
};

// The sequences that an id from the caller means: itself, or all for SEQ_ALL. From `first` to `last`, both included.
struct seq_range {
    seq_range(const spec & s, int32_t seq_id)
        : first(seq_id == abi::SEQ_ALL ? 0 : seq_id), last(seq_id == abi::SEQ_ALL ? s.n_seq - 1 : seq_id) {}

    int32_t first, last;
};

// --- batches.cpp ---

// Evaluates one batch on the target. Returns llama.cpp's status: 0, 1 (no room), 2 (aborted); throws ERROR_DECODE on the rest.
int32_t evaluate(spec & s);

// Shows `s.batch` to the strategies. Throws ERROR_DECODE.
void show(spec & s);

// Brings target and strategies up to `history` for each of `seqs`. Returns OK, CANCELLED or CONTEXT_FULL.
int32_t catch_up(spec & s, const std::vector<int32_t> & seqs);

// Reads and clears the cancel flag.
bool take_cancel(spec & s);

// --- loop.cpp ---

// Tokens of a batch from the caller: in the vocabulary, sequences in range and each in one stretch. Throws ERROR_INVALID_ARGUMENT.
void require_batch(const spec & s, const abi::batch & b);

// Sequence of token `i`.
int32_t seq_of(const abi::batch & b, int32_t i);

// --- sequences.cpp ---

// Takes both memories and the strategies back to the first `n` tokens of `history`.
void take_back(spec & s, int32_t seq, int32_t n);

// After a batch that stopped half-way: counts what is left of it and takes it back to the first `n` tokens.
void recover(spec & s, int32_t seq, int32_t n);

// Empties both memories of a sequence; what it holds is evaluated again when it is needed.
void drop_memories(spec & s, int32_t seq);

// Makes llama.cpp carry out what it has put off, so that the memory of a sequence can be read as bytes.
void settle(spec & s, int32_t seq);

// Forgets everything about a sequence except its sampler and counters.
void clear(spec & s, int32_t seq);

// Ends an open round: keeps `n_keep` of its tokens.
void commit(spec & s, int32_t seq, int32_t n_keep);

// Keeps the first `n_tokens` tokens; the last of them becomes the one that is not evaluated.
void truncate(spec & s, int32_t seq, int32_t n_tokens);

void refuse_open_round(const sequence & q, int32_t seq);
void refuse_callers_sequence(const sequence & q, int32_t seq);

// --- rounds.cpp ---

// Longest draft for which the contexts have room behind `pos0`.
int32_t draft_room(const spec & s, int32_t pos0);

// Drafts for `s.requests`, with the draft's own tokens taken out of its context again.
void draft_now(spec & s);

// One draft-and-verify round over `s.active`.
int32_t run_round(spec & s);

// Row of logits from which emitted token `index` was sampled.
const float * row_of(spec & s, sequence & q, int32_t index);

// --- statistics.cpp ---

// Books the round of `q` that emitted `n_emitted` tokens.
void count_round(sequence & q, size_t n_emitted);

} // namespace spb
