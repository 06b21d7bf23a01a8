// From a row of logits to a token: greedy without a sampler, or the caller's sampler, applied and accepted exactly once.
#pragma once

#include "llama.h"

#include <memory>
#include <vector>

namespace spb {

struct sampler_deleter {
    void operator()(llama_sampler * s) const { llama_sampler_free(s); }
};
using sampler_ptr = std::unique_ptr<llama_sampler, sampler_deleter>;

// What sampling one row gave.
struct sampled {
    llama_token token;
    bool        ended; // the sampler reached its terminal state: there is no token
};

// The sampler of one sequence. The caller's sampler is borrowed; a snapshot lets a round take back what it accepted.
class sequence_sampler {
public:
    // Throws ERROR_SAMPLER if `smpl` cannot be used for speculation; NULL is greedy.
    void set(llama_sampler * smpl, int32_t n_vocab);

    bool greedy() const { return smpl == nullptr; }

    // Samples a token from `logits` and accepts it. Throws ERROR_SAMPLER; the sampler is then dead until it is replaced.
    sampled next(const float * logits, int32_t n_vocab);

    // Remembers the present state of the sampler.
    void snapshot();

    // Returns to the snapshot, if there is one.
    void restore();

    // Drops the snapshot: what was accepted until now stays.
    void forget();

private:
    sampled apply_and_accept(const float * logits, int32_t n_vocab);

    llama_sampler *               smpl = nullptr;
    bool                          dead = false;
    sampler_ptr                   saved;
    std::vector<llama_token_data> candidates; // kept to avoid an allocation per token
};

} // namespace spb
