// The object behind `llama_speculative_session`: models, contexts, samplers and the spec, in the order of their release.
#pragma once

#include "spec.h"
#include "text.h"

#include "llama-cpp.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace spb {

// Text that is ready to be handed out.
struct ready_piece {
    std::string text;
    int32_t     n_tokens       = 0;
    int32_t     n_tokens_draft = 0;
    llama_token token          = LLAMA_TOKEN_NULL;
};

// One answer in the making.
struct generation {
    bool                    started = false;
    bool                    ended   = false;
    int32_t                 seq     = 0;
    utf8_assembler          utf8;
    stop_matcher            stops;
    std::deque<ready_piece> ready;
    ready_piece             held; // tokens whose text is still kept back
    std::string             current; // text of the piece that was handed out last
    counters                before;  // of the sequence, when the generation started
    abi::gen_result         result{};
};

struct session : object {
    // Members are released from the last to the first: samplers and spec before contexts, contexts before models.
    llama_model_ptr          model;
    llama_model_ptr          model_dft;
    llama_context_ptr        ctx_tgt;
    llama_context_ptr        ctx_dft;
    std::unique_ptr<spec>    sp;
    std::vector<sampler_ptr> samplers; // one per sequence, or none for greedy decoding
    generation               gen;

    ~session();
};

// --- session_open.cpp ---
std::unique_ptr<session> open_session(const abi::session_params & p, bool & cancelled);

} // namespace spb
