// Random call sequences, valid and not, against models whose continuation is known: whatever was called before, the next
// tokens are the target's own.
//
//   fuzz NEXT MODEL DRAFT|- STRATEGIES SEED CALLS
//
// NEXT is a text file with one number per token of the vocabulary: what follows it. Prints a line of figures; exits 1 when
// a token is wrong, or when fewer than a fifth of the rounds were valid.
#include "llama_speculative.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <vector>

namespace {

constexpr int32_t FIRST_TOKEN = 4; // below are the special tokens
constexpr int32_t N_SEQ       = 4;
constexpr int32_t N_CTX       = 256;

std::vector<int32_t> NEXT;

[[noreturn]] void die(const char * what, int32_t seq, int32_t a, int32_t b) {
    std::fprintf(stderr, "fuzz: %s (sequence %d: %d, %d)\n", what, seq, a, b);
    std::exit(1);
}

class fuzzer {
public:
    fuzzer(llama_speculative * spec, uint64_t seed) : spec(spec), random(seed), tokens(N_SEQ) {}

    void run(int64_t n_calls) {
        for (int64_t i = 0; i < n_calls; ++i) {
            call();
        }
    }

    int64_t n_rounds = 0, n_tried = 0, n_committed = 0, n_refused = 0;

private:
    llama_speculative *               spec;
    std::mt19937_64                   random;
    std::vector<std::vector<int32_t>> tokens; // what each sequence holds, by our own account
    std::vector<uint8_t>              state;
    std::vector<int32_t>              state_tokens;

    int32_t pick(int32_t low, int32_t high) { return std::uniform_int_distribution<int32_t>(low, high)(random); }

    // A sequence id, now and then an impossible one.
    int32_t any_seq() { return pick(0, 19) == 0 ? pick(-3, 9) : pick(0, N_SEQ - 1); }

    bool is_seq(int32_t seq) const { return seq >= 0 && seq < N_SEQ; }

    void expect(bool valid, int32_t status, const char * what, int32_t seq) {
        if (!valid && status >= 0) {
            die(what, seq, status, 0);
        }
        n_refused += status < 0;
    }

    // Takes over what the open rounds hold, as the next decode does.
    void commit_all() {
        for (int32_t seq = 0; seq < N_SEQ; ++seq) {
            llama_speculative_seq_status info = {};
            info.struct_size                  = sizeof(info);
            if (llama_speculative_seq_info(spec, seq, &info) == LLAMA_SPECULATIVE_OK && info.n_open > 0) {
                take(seq, info.n_open);
            }
        }
    }

    void take(int32_t seq, int32_t n_keep) {
        int32_t buffer[1024];
        size_t  n = 0;
        if (llama_speculative_get_accepted_tokens(spec, seq, buffer, 1024, &n) != LLAMA_SPECULATIVE_OK || n < (size_t) n_keep) {
            die("accepted tokens are not to be had", seq, n_keep, (int32_t) n);
        }
        for (int32_t i = 0; i < n_keep; ++i) {
            std::vector<int32_t> & have = tokens[seq];
            const int32_t          want = NEXT[NEXT[have[have.size() - 2]]];
            if (buffer[i] != want) {
                die("a token is not the target's own", seq, buffer[i], want);
            }
            have.push_back(buffer[i]);
        }
        n_committed += n_keep;
    }

    void prompt() {
        commit_all();
        const int32_t        seq = any_seq();
        const bool           bad = pick(0, 9) == 0;
        std::vector<int32_t> batch_tokens, ids;
        if (is_seq(seq)) {
            int32_t       last = tokens[seq].empty() ? pick(FIRST_TOKEN, (int32_t) NEXT.size() - 1) : NEXT[tokens[seq].back()];
            const int32_t n    = pick(2, 40);
            for (int32_t i = 0; i < n; ++i, last = NEXT[last]) {
                batch_tokens.push_back(last);
            }
        } else {
            batch_tokens.assign(3, FIRST_TOKEN);
        }
        const std::vector<int32_t> good = batch_tokens;
        if (bad) {
            batch_tokens[pick(0, (int32_t) batch_tokens.size() - 1)] = pick(0, 1) ? -5 : 100000;
        }
        ids.assign(batch_tokens.size(), seq);
        llama_speculative_batch batch = {};
        batch.struct_size             = sizeof(batch);
        batch.n_tokens                = (int32_t) batch_tokens.size();
        batch.token                   = batch_tokens.data();
        batch.seq_id                  = ids.data();
        const int32_t status          = llama_speculative_decode(spec, &batch);
        expect(is_seq(seq) && !bad, status, "a bad prompt was taken", seq);
        if (status == LLAMA_SPECULATIVE_OK) {
            tokens[seq].insert(tokens[seq].end(), good.begin(), good.end());
        }
    }

    void round() {
        commit_all();
        n_tried++;
        const int32_t status = llama_speculative_decode(spec, nullptr);
        if (status < 0) {
            die(llama_speculative_last_error(spec), -1, status, 0);
        }
        n_rounds += status == LLAMA_SPECULATIVE_OK;
        if (status != LLAMA_SPECULATIVE_OK) {
            clear(pick(0, N_SEQ - 1));
            prompt();
        }
    }

    void commit() {
        const int32_t                seq  = any_seq();
        llama_speculative_seq_status info = {};
        info.struct_size                  = sizeof(info);
        const bool open                   = is_seq(seq) && llama_speculative_seq_info(spec, seq, &info) == LLAMA_SPECULATIVE_OK && info.n_open > 0;
        const int32_t n_keep              = pick(open ? 1 : -1, open ? info.n_open + 1 : 3);
        const bool    valid               = open && n_keep <= info.n_open;
        if (valid) {
            take(seq, n_keep);
        }
        expect(valid, llama_speculative_commit(spec, seq, n_keep), "an impossible commit was taken", seq);
    }

    void truncate() {
        const int32_t seq = any_seq();
        commit_all_now();
        const int32_t n      = is_seq(seq) && tokens[seq].size() > 2 ? pick(2, (int32_t) tokens[seq].size() + 2) : pick(0, 1) * 50000;
        const bool    valid  = is_seq(seq) && n <= (int32_t) tokens[seq].size();
        const int32_t status = llama_speculative_seq_truncate(spec, seq, n);
        expect(valid, status, "an impossible truncation was taken", seq);
        if (status == LLAMA_SPECULATIVE_OK) {
            tokens[seq].resize(n);
        }
    }

    // Commits for real, where another call than decode comes next.
    void commit_all_now() {
        for (int32_t seq = 0; seq < N_SEQ; ++seq) {
            llama_speculative_seq_status info = {};
            info.struct_size                  = sizeof(info);
            if (llama_speculative_seq_info(spec, seq, &info) == LLAMA_SPECULATIVE_OK && info.n_open > 0) {
                take(seq, info.n_open);
                if (llama_speculative_commit(spec, seq, info.n_open) != LLAMA_SPECULATIVE_OK) {
                    die(llama_speculative_last_error(spec), seq, info.n_open, 0);
                }
            }
        }
    }

    void copy() {
        const int32_t src = any_seq(), dst = any_seq();
        commit_all_now();
        const int32_t status = llama_speculative_seq_copy(spec, src, dst);
        expect(is_seq(src) && is_seq(dst), status, "an impossible copy was made", src);
        if (status == LLAMA_SPECULATIVE_OK) {
            tokens[dst] = tokens[src];
        }
    }

    void shift() {
        const int32_t seq = any_seq();
        commit_all_now();
        const int32_t n     = is_seq(seq) ? (int32_t) tokens[seq].size() : 0;
        const int32_t p0    = pick(-1, n + 1);
        const int32_t delta = pick(-8, 1);
        // the two last tokens must stay neighbours, or the known continuation is lost
        const bool    valid  = is_seq(seq) && p0 >= 1 && p0 <= n - 3 && delta < 0 && p0 + delta >= 1;
        const int32_t status = !valid && p0 > n - 3 ? -1 : llama_speculative_seq_shift(spec, seq, p0, LLAMA_SPECULATIVE_POS_END, delta);
        if (status == LLAMA_SPECULATIVE_OK) {
            if (!is_seq(seq) || p0 < 1 || delta >= 0 || p0 + delta < 0) {
                die("an impossible shift was taken", seq, p0, delta);
            }
            tokens[seq].erase(tokens[seq].begin() + p0 + delta, tokens[seq].begin() + p0);
        }
    }

    void clear(int32_t seq) {
        commit_all_now();
        expect(is_seq(seq) || seq == LLAMA_SPECULATIVE_SEQ_ALL, llama_speculative_seq_clear(spec, seq), "an unknown sequence was cleared", seq);
        for (int32_t i = 0; i < N_SEQ; ++i) {
            if (i == seq || seq == LLAMA_SPECULATIVE_SEQ_ALL) {
                tokens[i].clear();
            }
        }
    }

    void limits() {
        llama_speculative_seq_set_limits(spec, pick(0, N_SEQ - 1), pick(-1, 5), pick(0, 3) ? -1 : pick(0, 30));
    }

    void save() {
        const int32_t seq = pick(0, N_SEQ - 1);
        commit_all_now();
        size_t n = 0;
        if (llama_speculative_state_save(spec, seq, nullptr, 0, &n) != LLAMA_SPECULATIVE_ERROR_BUFFER_TOO_SMALL) {
            die("the size of a state is not to be had", seq, 0, 0);
        }
        state.resize(n);
        if (llama_speculative_state_save(spec, seq, state.data(), n, &n) != LLAMA_SPECULATIVE_OK) {
            die(llama_speculative_last_error(spec), seq, (int32_t) n, 0);
        }
        state_tokens = tokens[seq];
    }

    void load() {
        const int32_t seq = pick(0, N_SEQ - 1);
        commit_all_now();
        std::vector<uint8_t> data = state;
        const bool           bad  = data.empty() || pick(0, 3) == 0;
        if (bad && !data.empty()) {
            if (pick(0, 1)) {
                data.resize(pick(0, (int32_t) data.size() - 1));
            } else {
                data[pick(0, (int32_t) data.size() - 1)] ^= (uint8_t) (1 << pick(0, 7));
            }
        }
        const int32_t status = llama_speculative_state_load(spec, seq, data.data(), data.size());
        expect(!bad, status, "a damaged state was taken", seq);
        if (status >= 0) {
            tokens[seq] = state_tokens;
        }
    }

    void misuse() {
        int32_t buffer[4];
        size_t  n = 0;
        switch (pick(0, 5)) {
            case 0: expect(false, llama_speculative_get_accepted_tokens(spec, any_seq(), nullptr, 3, &n), "a NULL buffer was taken", 0); break;
            case 1: expect(false, llama_speculative_commit(spec, pick(0, N_SEQ - 1), 0), "an empty commit was taken", 0); break;
            case 2: llama_speculative_accept(spec, any_seq(), pick(-1, 3)); break;
            case 3: llama_speculative_get_draft(spec, any_seq(), buffer, 4, &n); break;
            case 4: expect(false, llama_speculative_decode(nullptr, nullptr), "a NULL handle was taken", 0); break;
            case 5: expect(false, llama_speculative_draft_request(spec, any_seq(), pick(-1, 3000) + 1000000, 5, 3), "a wrong position was taken", 0); break;
        }
    }

    void call() {
        const int32_t dice = pick(0, 99);
        if (dice < 50) {
            round();
        } else if (dice < 65) {
            commit();
        } else if (dice < 75) {
            prompt();
        } else if (dice < 80) {
            truncate();
        } else if (dice < 84) {
            copy();
        } else if (dice < 87) {
            shift();
        } else if (dice < 89) {
            clear(any_seq());
        } else if (dice < 92) {
            limits();
        } else if (dice < 94) {
            save();
        } else if (dice < 96) {
            load();
        } else if (dice < 97) {
            cancelled_round();
        } else {
            misuse();
        }
    }

    void cancelled_round() {
        commit_all();
        llama_speculative_cancel(spec);
        const int32_t status = llama_speculative_decode(spec, nullptr);
        if (status == LLAMA_SPECULATIVE_OK) {
            die("a cancelled round was run", -1, status, 0);
        }
        if (status < 0) {
            die(llama_speculative_last_error(spec), -1, status, 0);
        }
    }
};

} // namespace

int main(int argc, char ** argv) {
    if (argc != 7) {
        std::fprintf(stderr, "usage: fuzz NEXT MODEL DRAFT|- STRATEGIES SEED CALLS\n");
        return 2;
    }
    std::ifstream file(argv[1]);
    for (int32_t id; file >> id;) {
        NEXT.push_back(id);
    }
    llama_speculative_params         params;
    llama_speculative_session_params session_params;
    llama_speculative_params_init(&params, sizeof(params));
    llama_speculative_session_params_init(&session_params, sizeof(session_params));
    params.strategies       = argv[4];
    params.n_draft_max      = 3;
    params.ngram_simple_n   = params.ngram_map_k_n = params.ngram_map_k4v_n = 2;
    params.ngram_simple_m   = params.ngram_map_k_m = params.ngram_map_k4v_m = 4;
    params.ngram_mod_n_match = 16;
    params.ngram_mod_n_min   = 1;
    params.ngram_mod_n_max   = 6;
    session_params.model       = argv[2];
    session_params.model_draft = argv[3][0] == '-' ? nullptr : argv[3];
    session_params.speculative = &params;
    session_params.n_ctx       = N_CTX;
    session_params.n_batch     = 32;
    session_params.n_ubatch    = 32;
    session_params.n_seq_max   = N_SEQ;
    session_params.n_threads   = 1;
    llama_speculative_session * session = nullptr;
    if (llama_speculative_session_open(&session_params, &session) != LLAMA_SPECULATIVE_OK) {
        std::fprintf(stderr, "fuzz: %s\n", llama_speculative_session_last_error(nullptr));
        return 2;
    }
    llama_speculative_handles handles = {};
    handles.struct_size               = sizeof(handles);
    llama_speculative_session_handles(session, &handles);
    fuzzer f(handles.spec, std::strtoull(argv[5], nullptr, 10));
    f.run(std::strtoll(argv[6], nullptr, 10));
    llama_speculative_session_close(session);
    std::printf("rounds tried %" PRId64 ", valid %" PRId64 ", tokens committed %" PRId64 ", calls refused %" PRId64 "\n", f.n_tried, f.n_rounds, f.n_committed, f.n_refused);
    return f.n_rounds * 5 < f.n_tried ? 1 : 0;
}
