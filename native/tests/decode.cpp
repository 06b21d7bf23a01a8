// Generates greedily from a text prompt, by the loop of this library or by plain llama_decode, and says how long it took.
//
// usage: decode loop|plain MODEL DRAFT|- PROMPT_FILE N_PREDICT N_THREADS STRATEGIES [field=value ...]
// Fields are integers of llama_speculative_params. Prints one JSON object.

#include "llama_speculative.h"

#include "llama.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using lsp_params = llama_speculative_params;

static const struct {
    const char * name;
    int32_t lsp_params::*field;
} FIELDS[] = {
    {"n_draft_max", &lsp_params::n_draft_max},           {"ngram_simple_n", &lsp_params::ngram_simple_n},
    {"ngram_simple_m", &lsp_params::ngram_simple_m},     {"ngram_map_k_n", &lsp_params::ngram_map_k_n},
    {"ngram_map_k_m", &lsp_params::ngram_map_k_m},       {"ngram_map_k4v_n", &lsp_params::ngram_map_k4v_n},
    {"ngram_map_k4v_m", &lsp_params::ngram_map_k4v_m},   {"ngram_mod_n_match", &lsp_params::ngram_mod_n_match},
    {"ngram_mod_n_min", &lsp_params::ngram_mod_n_min},   {"ngram_mod_n_max", &lsp_params::ngram_mod_n_max},
};

[[noreturn]] static void die(const char * what) {
    std::fprintf(stderr, "%s: %s\n", what, llama_speculative_last_error(nullptr));
    std::exit(1);
}

static bool set_field(lsp_params & p, const char * given) {
    const char * equals = std::strchr(given, '=');
    if (!equals) {
        return false;
    }
    if (std::string(given, equals) == "p_min") {
        p.p_min = std::strtof(equals + 1, nullptr);
        return true;
    }
    for (const auto & f : FIELDS) {
        if (std::string(given, equals) == f.name) {
            p.*f.field = std::atoi(equals + 1);
            return true;
        }
    }
    return false;
}

static std::vector<llama_token> tokenize(const llama_model * model, const std::string & text) {
    std::vector<llama_token> tokens(text.size() + 8);
    const int32_t n = llama_tokenize(llama_model_get_vocab(model), text.data(), (int32_t) text.size(), tokens.data(), (int32_t) tokens.size(), true, true);
    tokens.resize(n > 0 ? (size_t) n : 0);
    return tokens;
}

struct outcome {
    std::vector<llama_token>   tokens;
    llama_speculative_counters sums{}; // without the prompt
    double                     seconds = 0;
};

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// As a program would that knows nothing of speculation: one token per llama_decode.
static outcome plain(llama_context * ctx, std::vector<llama_token> prompt, size_t n_predict) {
    outcome             out;
    const llama_vocab * vocab   = llama_model_get_vocab(llama_get_model(ctx));
    const int32_t       n_vocab = llama_vocab_n_tokens(vocab);
    llama_token         last    = prompt.back();
    prompt.pop_back();
    for (size_t i = 0; i < prompt.size(); i += llama_n_batch(ctx)) {
        const size_t n = std::min<size_t>(llama_n_batch(ctx), prompt.size() - i);
        if (llama_decode(ctx, llama_batch_get_one(prompt.data() + i, (int32_t) n)) != 0) {
            die("llama_decode");
        }
    }
    out.tokens.reserve(n_predict);
    const double t0 = now();
    while (out.tokens.size() < n_predict) {
        if (llama_decode(ctx, llama_batch_get_one(&last, 1)) != 0) {
            die("llama_decode");
        }
        const float * logits = llama_get_logits_ith(ctx, -1);
        last                 = 0;
        for (llama_token id = 1; id < n_vocab; ++id) {
            last = logits[id] > logits[last] ? id : last;
        }
        out.tokens.push_back(last);
        if (llama_vocab_is_eog(vocab, last)) {
            break;
        }
    }
    out.seconds = now() - t0;
    return out;
}

static llama_speculative_counters counters(llama_speculative * spec) {
    llama_speculative_counters sums{};
    sums.struct_size = sizeof(sums);
    if (llama_speculative_stats(spec, LLAMA_SPECULATIVE_SEQ_ALL, nullptr, &sums) < 0) {
        die("stats");
    }
    return sums;
}

static outcome loop(llama_speculative * spec, const std::vector<llama_token> & prompt, size_t n_predict) {
    llama_speculative_batch batch{};
    batch.struct_size = sizeof(batch);
    batch.n_tokens    = (int32_t) prompt.size();
    batch.token       = prompt.data();
    if (llama_speculative_seq_set_limits(spec, 0, -1, (int32_t) n_predict) < 0 || llama_speculative_decode(spec, &batch) != 0) {
        die("prompt");
    }
    outcome out;
    out.tokens.resize(n_predict);
    const llama_speculative_counters before = counters(spec);
    size_t                           n      = 0;
    const double                     t0     = now();
    for (;;) {
        const int32_t status = llama_speculative_decode(spec, nullptr);
        if (status < 0) {
            die("decode");
        }
        if (status != LLAMA_SPECULATIVE_OK) {
            break;
        }
        size_t got = 0;
        if (llama_speculative_get_accepted_tokens(spec, 0, out.tokens.data() + n, n_predict - n, &got) < 0) {
            die("get_accepted_tokens");
        }
        n += got;
    }
    out.seconds = now() - t0;
    out.tokens.resize(n);
    out.sums = counters(spec);
    out.sums.t_draft_us -= before.t_draft_us;
    out.sums.t_decode_us -= before.t_decode_us;
    out.sums.t_process_us -= before.t_process_us;
    out.sums.t_sample_us -= before.t_sample_us;
    return out;
}

int main(int argc, char ** argv) {
    if (argc < 8) {
        std::fprintf(stderr, "usage: decode loop|plain MODEL DRAFT|- PROMPT_FILE N_PREDICT N_THREADS STRATEGIES [field=value ...]\n");
        return 2;
    }
    const bool    speculate = std::strcmp(argv[1], "loop") == 0;
    std::ifstream file(argv[4], std::ios::binary);
    std::string   text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const size_t  n_predict = (size_t) std::atoi(argv[5]);

    lsp_params params;
    llama_speculative_params_init(&params, sizeof(params));
    params.strategies = speculate ? argv[7] : "none";
    for (int i = 8; i < argc; ++i) {
        if (!set_field(params, argv[i])) {
            std::fprintf(stderr, "%s: no such field\n", argv[i]);
            return 2;
        }
    }
    llama_speculative_session_params session_params;
    llama_speculative_session_params_init(&session_params, sizeof(session_params));
    session_params.model       = argv[2];
    session_params.model_draft = speculate && std::strcmp(argv[3], "-") != 0 ? argv[3] : nullptr;
    session_params.n_ctx       = 2048;
    session_params.n_batch     = 2048;
    session_params.n_threads   = std::atoi(argv[6]);
    session_params.speculative = &params;

    llama_speculative_session * session = nullptr;
    llama_speculative_handles   handles{};
    handles.struct_size = sizeof(handles);
    if (llama_speculative_session_open(&session_params, &session) != 0 || llama_speculative_session_handles(session, &handles) != 0) {
        die("session_open");
    }
    const std::vector<llama_token> prompt = tokenize(handles.model, text);
    const outcome out = speculate ? loop(handles.spec, prompt, n_predict) : plain(handles.ctx_tgt, prompt, n_predict);
    std::printf("{\"seconds\": %.6f, \"rounds\": %lld, \"drafted\": %lld, \"accepted\": %lld, \"draft_us\": %lld, \"decode_us\": %lld, \"process_us\": %lld, \"sample_us\": %lld, \"tokens\": [",
                out.seconds, (long long) out.sums.n_rounds, (long long) out.sums.n_drafted, (long long) out.sums.n_accepted,
                (long long) out.sums.t_draft_us, (long long) out.sums.t_decode_us, (long long) out.sums.t_process_us, (long long) out.sums.t_sample_us);
    for (size_t i = 0; i < out.tokens.size(); ++i) {
        std::printf("%s%d", i ? ", " : "", out.tokens[i]);
    }
    std::printf("]}\n");
    llama_speculative_session_close(session);
    return 0;
}
