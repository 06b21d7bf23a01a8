// Keeping the target's memory and the strategies level with the tokens of each sequence.
#include "spec.h"

#include "ggml.h"

#include <algorithm>

namespace spb {

bool take_cancel(spec & s) {
    return s.cancelled.exchange(false, std::memory_order_acq_rel);
}

int32_t evaluate(spec & s) {
    const int64_t t0 = ggml_time_us();
    const int32_t rc = llama_process(s.ctx_tgt, LLAMA_PROCESS_TYPE_DECODE, s.batch.get());
    s.sums.t_decode_us += ggml_time_us() - t0;
    s.sums.n_decodes++;
    if (rc < 0 || rc > 2) {
        fail(abi::ERROR_DECODE, "llama.cpp could not evaluate a batch of %d tokens on the target (status %d); its log says why (see log_set)",
             s.batch.size(), rc);
    }
    return rc;
}

void show(spec & s) {
    if (!s.driver) {
        return;
    }
    const int64_t t0 = ggml_time_us();
    const bool    ok = driver::process(s.driver.get(), s.batch);
    s.sums.t_process_us += ggml_time_us() - t0;
    if (!ok) {
        fail(abi::ERROR_DECODE, "the draft context could not follow a batch of %d tokens; its log says why (see log_set)", s.batch.size());
    }
}

namespace {

// One stretch of a sequence in the batch under construction.
struct stretch {
    int32_t seq;
    int32_t from;
    int32_t n;
};

enum class feed { both, target_only, strategies_only };

class catching_up {
public:
    catching_up(spec & s, const std::vector<int32_t> & seqs) : s(s), seqs(seqs) {}

    int32_t run() {
        prepare();
        int32_t status = feed_all(feed::target_only);
        status         = status == abi::OK ? refresh_boundaries() : status;
        status         = status == abi::OK ? feed_all(feed::strategies_only) : status;
        return status == abi::OK ? feed_all(feed::both) : status;
    }

private:
    spec &                       s;
    const std::vector<int32_t> & seqs;

    int32_t goal(int32_t seq) const { return (int32_t) s.seqs[(size_t) seq].history.size(); }

    // The row that the strategies carry belongs to other tokens than those that they have been shown.
    bool stale(int32_t seq) const {
        const sequence & q = s.seqs[(size_t) seq];
        return s.has_boundary && q.n_shown > 0 && q.boundary_at != q.n_shown;
    }

    // Strategies that read the target's rows can only follow together with the target: where they are behind it, the
    // target's tokens are evaluated again.
    void prepare() {
        for (int32_t seq : seqs) {
            sequence & q = s.at(seq);
            if (s.follows_rows && q.n_shown < s.target.n(seq)) {
                drop_memories(s, seq);
            } else if (stale(seq)) {
                s.target.take_back(seq, q.n_shown - 1);
            }
        }
    }

    // From where and how far a sequence is fed in this pass; false when it is there.
    bool range(feed kind, int32_t seq, int32_t & from, int32_t & to) const {
        const int32_t n_shown = s.seqs[(size_t) seq].n_shown;
        const int32_t target  = s.target.n(seq);
        switch (kind) {
            case feed::target_only:     from = target;  to = n_shown - stale(seq); break;
            case feed::strategies_only: from = n_shown; to = target;               break;
            case feed::both:            from = target;  to = goal(seq);            break;
        }
        return from < to;
    }

    int32_t feed_all(feed kind) {
        const int32_t n_batch = (int32_t) llama_n_batch(s.ctx_tgt);
        for (;;) {
            std::vector<stretch> part;
            int32_t              room = n_batch;
            for (int32_t seq : seqs) {
                int32_t from, to;
                if (room > 0 && range(kind, seq, from, to)) {
                    part.push_back({seq, from, std::min(room, to - from)});
                    room -= part.back().n;
                }
            }
            if (part.empty()) {
                return abi::OK;
            }
            if (take_cancel(s)) {
                return abi::CANCELLED;
            }
            const int32_t status = feed_part(kind, part);
            if (status != abi::OK) {
                return status;
            }
        }
    }

    int32_t feed_part(feed kind, const std::vector<stretch> & part) {
        s.batch.clear();
        for (const stretch & p : part) {
            for (int32_t i = p.from; i < p.from + p.n; ++i) {
                s.batch.add(s.at(p.seq).history[i], i, p.seq, false);
            }
        }
        if (kind != feed::strategies_only) {
            int32_t rc;
            try {
                rc = evaluate(s);
            } catch (...) {
                lose(part);
                throw;
            }
            if (rc != 0) {
                lose(part);
                return rc == 2 ? cancelled() : abi::CONTEXT_FULL;
            }
            for (const stretch & p : part) {
                s.target.added(p.seq, p.n);
            }
            if (part.size() > 1) {
                s.target.snapshots_moved(); // also those of this batch, which may be more than one physical batch
            }
        }
        if (kind != feed::target_only) {
            try {
                show(s);
            } catch (...) {
                lose(part);
                throw;
            }
            for (const stretch & p : part) {
                s.at(p.seq).n_shown     = p.from + p.n;
                s.at(p.seq).boundary_at = p.from + p.n;
                if (s.draft) {
                    s.draft.added(p.seq, p.n);
                }
            }
        }
        return abi::OK;
    }

    // A batch that failed left an unknown part of itself behind: go back to before it.
    void lose(const std::vector<stretch> & part) {
        for (const stretch & p : part) {
            recover(s, p.seq, p.from);
        }
    }

    // Evaluates the last shown token again, so that the strategies carry its row.
    int32_t refresh_boundaries() {
        for (int32_t seq : seqs) {
            if (!stale(seq)) {
                continue;
            }
            sequence &    q    = s.at(seq);
            const int32_t last = q.n_shown - 1;
            s.batch.clear();
            s.batch.add(q.history[last], last, seq, false);
            const int32_t rc = evaluate(s);
            if (rc != 0) {
                s.target.recount(seq);
                s.target.take_back(seq, last);
                return rc == 2 ? cancelled() : abi::CONTEXT_FULL;
            }
            s.target.added(seq, 1);
            if (!driver::refresh_boundary(s.driver.get(), s.batch)) {
                fail(abi::ERROR_DECODE, "the draft context could not take up the row of sequence %d again", seq);
            }
            q.boundary_at = q.n_shown;
        }
        return abi::OK;
    }

    int32_t cancelled() {
        take_cancel(s);
        return abi::CANCELLED;
    }
};

} // namespace

int32_t catch_up(spec & s, const std::vector<int32_t> & seqs) {
    return catching_up(s, seqs).run();
}

} // namespace spb
