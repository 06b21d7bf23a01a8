// Typed access to what llama.cpp's speculative driver and context keep private.
//
// driver_access.cpp is the only file that includes upstream's sources instead of its headers. Each function below is
// therefore an item of the list of what upstream would have to make public.
#pragma once

#include "common.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct common_speculative;

namespace spb::driver {

struct deleter {
    void operator()(common_speculative * cs) const;
};
using handle = std::unique_ptr<common_speculative, deleter>;

// Creates the strategies of `params` for `n_seq` sequences; null when there is none. Throws what upstream throws.
handle create(common_params_speculative & params, uint32_t n_seq);

// Type of each strategy, in the order in which they are asked to draft.
std::vector<common_speculative_type> types(const common_speculative * cs);

// A new generation starts on tokens that the strategies may have seen in part.
void begin(common_speculative * cs, int32_t seq, const llama_tokens & history);

// Shows the strategies a batch that the target has decoded. False when the draft context could not follow.
bool process(common_speculative * cs, const common_batch & batch);

struct request {
    int32_t              seq;
    int32_t              n_max; // at least 1
    llama_pos            pos0;
    llama_token          id_last;
    const llama_tokens * history;
    llama_tokens *       draft; // empty on entry
    std::vector<int32_t> * lessons; // of the sequence, for `teach`
};

// Drafts for all requests at once.
void draft(common_speculative * cs, const std::vector<request> & requests);

// Index in `types` of the strategy that made the last draft of a sequence, or -1.
int32_t drafted_by(const common_speculative * cs, int32_t seq);

// Whether the draft context evaluated the start of the last draft of a sequence: where it did not, an empty draft hides a
// failure that upstream only logs.
bool draft_reached(const common_speculative * cs, int32_t seq, llama_pos pos0);

// Ends a round: strategies that follow hidden rows move to row `n_hidden`, n-gram strategies learn that `n_verified`
// draft tokens were right. Upstream's own accept knows one number only.
void accept(common_speculative * cs, int32_t seq, int32_t n_hidden, int32_t n_verified);

// Forgets what the strategies know of a sequence. n-gram types keep their history across `begin` upstream, which breaks
// on a history that is not a continuation. The pool of ngram-mod belongs to all sequences and stays.
void forget(common_speculative * cs, int32_t seq);

// The n-gram part of `forget`: the tokens became fewer, while carried rows are dealt with apart.
void forget_history(common_speculative * cs, int32_t seq);

// Whether a strategy carries a row of the target from one batch to the next (draft-mtp, draft-eagle3).
bool has_boundary(const common_speculative * cs);

// The target has evaluated again the one token of `batch`, the last one of its sequence; makes its row the carried one.
// The draft context already holds the token and is not fed again. False when the draft context could not follow.
bool refresh_boundary(common_speculative * cs, const common_batch & batch);

// ngram-cache knows what its lessons taught it: one lesson is the tokens between two of these lengths, and n-grams across
// the border of two lessons are not counted. `draft` writes the lengths down; `teach` gives the same lessons again, from
// nothing, so that the same ties are broken in the same way.
bool has_lessons(const common_speculative * cs, int32_t seq);
void teach(common_speculative * cs, int32_t seq, const llama_tokens & tokens, const std::vector<int32_t> & lessons);

// Copies what the strategies know of `src` to `dst`.
void copy(common_speculative * cs, int32_t src, int32_t dst);

// Appends the carried rows of a sequence to `out`; the inverse reads exactly what was written and returns false if the
// bytes do not fit. n-gram history is not part of it: it comes back from the tokens.
void save_boundary(const common_speculative * cs, int32_t seq, std::vector<uint8_t> & out);
bool load_boundary(common_speculative * cs, int32_t seq, const uint8_t * data, size_t size);

// Limits of a context that llama.h does not show.
int32_t n_outputs_max(const llama_context * ctx);
int32_t n_outputs_max_per_seq(const llama_context * ctx);
bool    kv_unified(const llama_context * ctx);
bool    embeddings(const llama_context * ctx);

// Whether a context runs the model or its MTP heads.
llama_context_type context_type(const llama_context * ctx);

// Whether a draft context has no memory of its own and looks into the target's (the heads of a gemma4 assistant).
bool shares_memory(llama_context * draft, const llama_context * target);

// Why heads that look into the target's memory cannot find there what they need; empty when they can, or have their own.
std::string shared_memory_mismatch(const llama_model * target, const llama_model * heads);

// Whether a model's MTP heads were loaded (`load_mtp`).
bool mtp_heads_loaded(const llama_model * model);

// Why the draft's vocabulary does not fit the target's; empty when it does.
std::string vocabulary_mismatch(const llama_model * target, const llama_model * draft);

// Architecture name as in the GGUF.
std::string architecture(const llama_model * model);

// Target layers whose input an EAGLE-3, DFlash or DSpark draft reads.
std::vector<int32_t> target_layers(const llama_model * draft);

// Whether a DFlash-family draft carries the Markov head that makes it a DSpark one.
bool has_markov_head(const llama_model * draft);

// Hidden rows of a context, the input of MTP-style drafts. `hidden_row` is null where there is none.
void          set_hidden_rows(llama_context * ctx, bool on, bool outputs_only);
const float * hidden_row(llama_context * ctx, int32_t index);

// Switches off every extraction that a strategy asked for.
void stop_extraction(llama_context * ctx);

} // namespace spb::driver
