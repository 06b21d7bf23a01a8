// Two sessions on two threads at once, a third thread that cancels both, and a log that changes hands meanwhile.
//
//   threads NEXT MODEL DRAFT|- STRATEGIES ROUNDS
//
// NEXT is a text file with one number per token of the vocabulary: what follows it. Prints `ok`, or what went wrong and exits 1.
#include "llama_speculative.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

namespace {

std::vector<int32_t> NEXT;
std::atomic<int64_t> n_lines;
std::atomic<bool>    done;

[[noreturn]] void die(const char * what, int32_t a, int32_t b) {
    std::fprintf(stderr, "threads: %s (%d, %d)\n", what, a, b);
    std::_Exit(1);
}

void on_log(int32_t /*level*/, const char * text, void * user) {
    auto * counter = static_cast<std::atomic<int64_t> *>(user);
    *counter += text[0] != 0;
}

struct worker {
    llama_speculative_session * session = nullptr;
    llama_speculative *         spec    = nullptr;
    int64_t                     n_cancelled = 0;
    std::atomic<int64_t>        n_rounds{0};
    int64_t                     n_seen = 0; // by the thread that cancels: one that never lets go would stop all progress

    worker(const char * model, const char * draft, const char * strategies) {
        llama_speculative_params params;
        llama_speculative_params_init(&params, sizeof(params));
        params.strategies  = strategies;
        params.n_draft_max = 3;
        llama_speculative_session_params sp;
        llama_speculative_session_params_init(&sp, sizeof(sp));
        sp.model       = model;
        sp.model_draft = std::strcmp(draft, "-") != 0 ? draft : nullptr;
        sp.n_ctx       = 256;
        sp.n_threads   = 1;
        sp.speculative = &params;
        llama_speculative_handles handles = {};
        handles.struct_size               = sizeof(handles);
        if (llama_speculative_session_open(&sp, &session) != LLAMA_SPECULATIVE_OK ||
            llama_speculative_session_handles(session, &handles) != LLAMA_SPECULATIVE_OK) {
            die(llama_speculative_last_error(nullptr), 0, 0);
        }
        spec = handles.spec;
    }

    ~worker() { llama_speculative_session_close(session); }

    void cancel_again() {
        if (n_rounds != n_seen) {
            n_seen = n_rounds;
            llama_speculative_cancel(spec);
        }
    }

    void run(int64_t n_wanted) {
        int32_t last = 0;
        for (int64_t i = 0; i < n_wanted;) {
            if (i % 20 == 0) {
                last = restart();
            }
            const int32_t status = llama_speculative_decode(spec, nullptr);
            if (status == LLAMA_SPECULATIVE_CANCELLED) {
                ++n_cancelled;
                continue;
            }
            int32_t tokens[64];
            size_t  n = 0;
            if (status != LLAMA_SPECULATIVE_OK || llama_speculative_get_accepted_tokens(spec, 0, tokens, 64, &n) != LLAMA_SPECULATIVE_OK) {
                die(llama_speculative_last_error(spec), status, (int32_t) n);
            }
            for (size_t k = 0; k < n; ++k) {
                if (tokens[k] != NEXT[(size_t) last]) {
                    die("another token than the target's", tokens[k], NEXT[(size_t) last]);
                }
                last = tokens[k];
            }
            n_rounds = ++i;
        }
    }

    // A prompt of 24 tokens of the cycle, as often as a cancel meets it.
    int32_t restart() {
        std::vector<int32_t> prompt = {10};
        while (prompt.size() < 24) {
            prompt.push_back(NEXT[(size_t) prompt.back()]);
        }
        llama_speculative_batch batch = {};
        batch.struct_size             = sizeof(batch);
        batch.n_tokens                = (int32_t) prompt.size();
        batch.token                   = prompt.data();
        for (;;) {
            if (llama_speculative_seq_clear(spec, 0) != LLAMA_SPECULATIVE_OK) {
                die(llama_speculative_last_error(spec), 0, 0);
            }
            const int32_t status = llama_speculative_decode(spec, &batch);
            if (status == LLAMA_SPECULATIVE_OK) {
                return prompt.back();
            }
            if (status != LLAMA_SPECULATIVE_CANCELLED) {
                die(llama_speculative_last_error(spec), status, 0);
            }
            ++n_cancelled;
        }
    }
};

} // namespace

int main(int argc, char ** argv) {
    if (argc != 6) {
        std::fprintf(stderr, "usage: threads NEXT MODEL DRAFT|- STRATEGIES ROUNDS\n");
        return 2;
    }
    std::ifstream file(argv[1]);
    for (int32_t token; file >> token;) {
        NEXT.push_back(token);
    }
    const int64_t n_rounds = std::atoll(argv[5]);
    llama_speculative_log_set(on_log, &n_lines);
    {
        worker      a(argv[2], argv[3], argv[4]), b(argv[2], argv[3], argv[4]);
        std::thread first([&] { a.run(n_rounds); });
        std::thread second([&] { b.run(n_rounds); });
        std::thread third([&] {
            for (int64_t i = 0; !done; ++i) {
                (i % 2 ? a : b).cancel_again();
                auto * lines = new std::atomic<int64_t>(0); // freed as soon as log_set has returned
                llama_speculative_log_set(on_log, lines);
                std::this_thread::sleep_for(std::chrono::microseconds(300));
                llama_speculative_log_set(on_log, &n_lines);
                delete lines;
            }
        });
        first.join();
        second.join();
        done = true;
        third.join();
        if (a.n_cancelled + b.n_cancelled == 0) {
            die("no cancel met a call", 0, 0);
        }
        std::printf("ok: %lld cancelled, %lld lines\n", (long long) (a.n_cancelled + b.n_cancelled), (long long) n_lines.load());
    }
    llama_speculative_log_set(nullptr, nullptr);
    return 0;
}
