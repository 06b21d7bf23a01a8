// Loading models and making contexts so that they fit each other.
#include "detection.h"
#include "devices.h"
#include "identity.h"
#include "impl.h"
#include "requirements.h"
#include "session.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>

namespace spb {

// More snapshots of a recurrent state cost more memory than the checkpoints that they save.
static const int32_t SNAPSHOTS_MAX = 16;

static void require_gguf(const char * path, const char * field) {
    std::FILE * file = std::fopen(path, "rb");
    if (!file) {
        fail(abi::ERROR_MODEL, "session_params.%s: cannot open '%s': %s", field, path, std::strerror(errno));
    }
    char         magic[4] = {};
    const size_t n        = std::fread(magic, 1, sizeof(magic), file);
    std::fclose(file);
    if (n != sizeof(magic) || std::memcmp(magic, "GGUF", 4) != 0) {
        fail(abi::ERROR_MODEL, "session_params.%s: '%s' is not a GGUF file", field, path);
    }
}

struct progress {
    abi::progress_callback callback;
    void *                 user;
    bool                   cancelled = false;
};

static bool on_progress(float fraction, void * user) {
    auto * p = static_cast<progress *>(user);
    if (p->callback && p->callback(fraction, p->user) != 0) {
        p->cancelled = true;
    }
    return !p->cancelled;
}

static llama_model_ptr load_model(const char * path, const char * field, const char * device, const char * device_field, int32_t n_gpu_layers,
                                  bool load_mtp, progress & prog) {
    require_gguf(path, field);
    device_list        devices(device, device_field);
    llama_model_params mp          = llama_model_default_params();
    mp.n_gpu_layers                = n_gpu_layers;
    mp.load_mtp                    = load_mtp;
    mp.progress_callback           = on_progress;
    mp.progress_callback_user_data = &prog;
    devices.apply(mp);
    llama_model_ptr model(llama_model_load_from_file(path, mp));
    if (!model && !prog.cancelled) {
        fail(abi::ERROR_MODEL, "session_params.%s: llama.cpp could not load '%s'; its log says why (see log_set)", field, path);
    }
    return model;
}

static int32_t threads(int32_t wanted) {
    return wanted > 0 ? wanted : std::max(1, std::min(4, (int32_t) std::thread::hardware_concurrency() / 2));
}

static bool wants_abort(void * data) {
    const auto * s = static_cast<const session *>(data);
    return s->sp && s->sp->cancelled.load(std::memory_order_acquire);
}

static llama_context_ptr make_target(session & s, const abi::session_params & p, int32_t longest) {
    const int32_t n_ctx_seq = p.n_ctx > 0 ? p.n_ctx : llama_model_n_ctx_train(s.model.get());

    llama_context_params cp = llama_context_default_params();
    cp.n_ctx                = (uint32_t) (n_ctx_seq * p.n_seq_max);
    cp.n_batch              = (uint32_t) p.n_batch;
    cp.n_ubatch             = (uint32_t) std::min(p.n_ubatch, p.n_batch);
    cp.n_seq_max            = (uint32_t) p.n_seq_max;
    cp.n_rs_seq             = (uint32_t) std::max(0, std::min({longest, SNAPSHOTS_MAX, (int32_t) cp.n_ubatch - 2}));
    cp.n_outputs_max        = (uint32_t) std::min(p.n_batch, p.n_seq_max * (1 + longest));
    cp.n_threads            = threads(p.n_threads);
    cp.n_threads_batch      = p.n_threads_batch > 0 ? p.n_threads_batch : cp.n_threads;
    cp.abort_callback       = wants_abort;
    cp.abort_callback_data  = &s;
    cp.no_perf              = true;
    llama_context_ptr ctx(llama_init_from_model(s.model.get(), cp));
    if (!ctx) {
        fail(abi::ERROR_UNSUPPORTED, "llama.cpp could not create a context of %d sequences of %d tokens for this model; its log says why (see log_set)",
             p.n_seq_max, n_ctx_seq);
    }
    return ctx;
}

// Greedy decoding needs no sampler: null.
static sampler_ptr make_sampler(const llama_model * model, const abi::session_params & p) {
    const llama_vocab * vocab     = llama_model_get_vocab(model);
    const bool          penalties = p.penalty_last_n != 0 && (p.penalty_repeat != 1.0f || p.penalty_freq != 0.0f || p.penalty_present != 0.0f);
    if (p.temperature <= 0.0f && !penalties && !p.grammar) {
        return nullptr;
    }
    sampler_ptr chain(llama_sampler_chain_init(llama_sampler_chain_default_params()));
    auto        add = [&](llama_sampler * smpl) { llama_sampler_chain_add(chain.get(), smpl); };
    if (p.grammar) {
        llama_sampler * grammar = llama_sampler_init_grammar(vocab, p.grammar, "root");
        if (!grammar) {
            fail(abi::ERROR_SAMPLER, "session_params.grammar is not a valid GBNF grammar with a rule 'root'; the log says where (see log_set)");
        }
        add(grammar);
    }
    if (penalties) {
        const int32_t last_n = p.penalty_last_n < 0 ? llama_model_n_ctx_train(model) : p.penalty_last_n;
        add(llama_sampler_init_penalties(llama_vocab_n_tokens(vocab), last_n, p.penalty_repeat, p.penalty_freq, p.penalty_present));
    }
    if (p.temperature <= 0.0f) {
        add(llama_sampler_init_greedy());
        return chain;
    }
    add(llama_sampler_init_top_k(p.top_k));
    add(llama_sampler_init_top_p(p.top_p, 1));
    add(llama_sampler_init_min_p(p.min_p, 1));
    add(llama_sampler_init_temp(p.temperature));
    add(llama_sampler_init_dist(p.seed));
    return chain;
}

std::unique_ptr<session> open_session(const abi::session_params & p, bool & cancelled) {
    require_own_llama();
    if (!p.model) {
        fail(abi::ERROR_INVALID_ARGUMENT, "session_params.model is NULL: give the path of the target's GGUF");
    }
    const abi::params     plain      = abi::default_params();
    const abi::params &   sp         = p.speculative ? *p.speculative : plain;
    const strategy_info * named      = draft_strategy(parse_strategies(sp));
    const bool            detects    = wants_detection(sp) && sp.n_draft_max > 0;
    const bool            heads      = detects || (named && named->type == COMMON_SPECULATIVE_TYPE_DRAFT_MTP); // may be in use
    if (p.model_draft && !named && !detects && sp.n_draft_max > 0) { // a limit of 0 is plain decoding, whatever is given
        fail(abi::ERROR_INVALID_ARGUMENT, "session_params.model_draft is given, but none of the strategies '%s' uses a draft model", sp.strategies);
    }
    load_backends();

    auto     s = std::make_unique<session>();
    progress prog{p.progress, p.progress_user};
    s->model = load_model(p.model, "model", p.device, "device", p.n_gpu_layers, heads && !p.model_draft, prog);
    if (!prog.cancelled && p.model_draft) {
        const char * device = p.device_draft ? p.device_draft : p.device;
        s->model_dft        = load_model(p.model_draft, "model_draft", device, "device_draft", p.n_gpu_layers_draft, heads, prog);
    }
    if (prog.cancelled) {
        cancelled = true;
        return nullptr;
    }
    const auto strategies = select(sp, s->model.get(), s->model_dft.get()).strategies;
    require_models(s->model.get(), s->model_dft.get(), strategies, sp);
    s->ctx_tgt = make_target(*s, p, longest_draft(strategies, sp));

    llama_context * ctx_dft = nullptr;
    impl::draft_context_init(s->ctx_tgt.get(), draft_strategy(strategies) ? s->model_dft.get() : nullptr, sp, &ctx_dft);
    s->ctx_dft.reset(ctx_dft);
    s->sp = std::make_unique<spec>(s->ctx_tgt.get(), ctx_dft, sp);
    for (int32_t seq = 0; seq < p.n_seq_max; ++seq) {
        if (sampler_ptr smpl = make_sampler(s->model.get(), p)) {
            s->sp->at(seq).sampler.set(smpl.get(), s->sp->n_vocab);
            s->samplers.push_back(std::move(smpl));
        }
    }
    return s;
}

session::~session() = default;

namespace impl {

int32_t session_open(const abi::session_params & p, session ** out) {
    bool cancelled = false;
    *out           = open_session(p, cancelled).release();
    return cancelled ? abi::CANCELLED : abi::OK;
}

void session_close(session * s) {
    delete s;
}

int32_t session_handles(session & s, abi::handles & out) {
    out.n_seq_max = s.sp->n_seq;
    out.model     = s.model.get();
    out.ctx_tgt   = s.ctx_tgt.get();
    out.ctx_dft   = s.ctx_dft.get();
    out.spec      = reinterpret_cast<abi::spec_handle *>(s.sp.get());
    return abi::OK;
}

} // namespace impl

int32_t sequence_count(const session & s) {
    return s.sp->n_seq;
}

} // namespace spb
