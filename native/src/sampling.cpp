#include "sampling.h"

#include "barrier.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spb {

static const char * name_of(const llama_sampler * smpl) {
    const char * name = llama_sampler_name(smpl);
    return name ? name : "(unnamed)";
}

// Upstream aborts when it clones a sampler that cannot be cloned, so every link is looked at first.
static void require_cloneable(llama_sampler * smpl) {
    const int32_t n = llama_sampler_chain_get(smpl, -1) ? llama_sampler_chain_n(smpl) : -1;
    if (n < 0) {
        if (!smpl->iface->clone && smpl->ctx) {
            fail(abi::ERROR_SAMPLER,
                 "sampler '%s' has no clone function, so a draft that is only partly accepted could not be taken back from it",
                 name_of(smpl));
        }
        return;
    }
    for (int32_t i = 0; i < n; ++i) {
        require_cloneable(llama_sampler_chain_get(smpl, i));
    }
}

// Runs a call of the caller's sampler: what it throws becomes ERROR_SAMPLER.
template <class Call> static auto as_sampler_error(const llama_sampler * smpl, Call call) {
    try {
        return call();
    } catch (const failure &) {
        throw;
    } catch (const std::bad_alloc &) {
        throw;
    } catch (const std::exception & e) {
        fail(abi::ERROR_SAMPLER, "sampler '%s' threw: %s", name_of(smpl), e.what());
    }
}

// Index of the selected candidate, or -1.
static int64_t apply(llama_sampler * smpl, std::vector<llama_token_data> & candidates, const float * logits, int32_t n_vocab, llama_token_data_array & array) {
    candidates.resize(n_vocab);
    for (int32_t id = 0; id < n_vocab; ++id) {
        candidates[id] = {id, logits ? logits[id] : 0.0f, 0.0f};
    }
    array = {candidates.data(), candidates.size(), -1, false};
    llama_sampler_apply(smpl, &array);
    return array.selected >= 0 && (size_t) array.selected < array.size ? array.selected : -1;
}

void sequence_sampler::set(llama_sampler * next_smpl, int32_t n_vocab) {
    if (next_smpl) {
        require_cloneable(next_smpl);
        // a trial on a copy, with all tokens equally likely, tells whether anything in the chain selects
        const bool selects = as_sampler_error(next_smpl, [&] {
            sampler_ptr            trial(llama_sampler_clone(next_smpl));
            llama_token_data_array array;
            return trial && apply(trial.get(), candidates, nullptr, n_vocab, array) >= 0;
        });
        if (!selects) {
            fail(abi::ERROR_SAMPLER, "sampler '%s' selects no token: end the chain in one that does, such as dist or greedy",
                 name_of(next_smpl));
        }
    }
    smpl = next_smpl;
    dead = false;
    saved.reset();
}

// The first of the largest. Several maxima side by side let the compiler use vector instructions: a vocabulary of 262,144
// tokens is as much work as a layer of a small model otherwise.
static llama_token argmax(const float * logits, int32_t n_vocab) {
    constexpr int32_t LANES = 16;
    float             most[LANES];
    std::fill(most, most + LANES, -std::numeric_limits<float>::infinity());
    const int32_t n = n_vocab - n_vocab % LANES;
    for (int32_t i = 0; i < n; i += LANES) {
        for (int32_t k = 0; k < LANES; ++k) {
            most[k] = logits[i + k] > most[k] ? logits[i + k] : most[k];
        }
    }
    float best = *std::max_element(most, most + LANES);
    for (int32_t i = n; i < n_vocab; ++i) {
        best = std::max(best, logits[i]);
    }
    const float * found = std::find(logits, logits + n_vocab, best);
    return found < logits + n_vocab ? (llama_token) (found - logits) : 0;
}

sampled sequence_sampler::next(const float * logits, int32_t n_vocab) {
    if (dead) {
        fail(abi::ERROR_SAMPLER, "the sampler failed before: set another one with seq_set_sampler");
    }
    if (!smpl) {
        const llama_token token = argmax(logits, n_vocab);
        if (!std::isfinite(logits[token])) {
            fail(abi::ERROR_DECODE, "the target's logits are not finite: nothing can be sampled from them");
        }
        return {token, false};
    }
    dead = true; // until this token is through: whatever throws below leaves the sampler in an unknown state
    const sampled t = as_sampler_error(smpl, [&] { return apply_and_accept(logits, n_vocab); });
    dead            = false;
    return t;
}

sampled sequence_sampler::apply_and_accept(const float * logits, int32_t n_vocab) {
    llama_token_data_array array;
    const int64_t          selected = apply(smpl, candidates, logits, n_vocab, array);
    if (selected < 0) {
        fail(abi::ERROR_SAMPLER, "sampler '%s' selected no token", name_of(smpl));
    }
    const llama_token_data & choice = array.data[selected];
    const bool               ended  = !std::isfinite(choice.logit); // a grammar that allows no token leaves minus infinity
    if (!ended) {
        llama_sampler_accept(smpl, choice.id);
    }
    return {choice.id, ended};
}

void sequence_sampler::snapshot() {
    if (smpl) {
        saved.reset(llama_sampler_clone(smpl));
    }
}

void sequence_sampler::restore() {
    if (smpl && saved) {
        llama_sampler_copy(saved.get(), smpl);
    }
}

void sequence_sampler::forget() {
    saved.reset();
}

} // namespace spb
