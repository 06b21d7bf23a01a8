// What the library was built from, and whether the loaded llama.cpp is the one.
#include "identity.h"

#include "impl.h"
#include "log_bridge.h"

#include "ggml-backend.h"
#include "llama.h"

#include <mutex>
#include <string>

#ifndef SPB_LLAMA_COMMIT
#define SPB_LLAMA_COMMIT "unknown"
#endif
#ifndef SPB_LLAMA_VERSION
#define SPB_LLAMA_VERSION "unknown"
#endif

namespace spb {

const char * llama_commit() {
    return SPB_LLAMA_COMMIT;
}

static const char * compiler() {
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#elif defined(_MSC_VER)
#define SPB_TEXT_(x) #x
#define SPB_TEXT(x) SPB_TEXT_(x)
    return "msvc " SPB_TEXT(_MSC_FULL_VER);
#else
    return "unknown";
#endif
}

static const char * backends() {
    static std::mutex           mutex;
    static std::string          names;
    std::lock_guard<std::mutex> lock(mutex);
    std::string                 now;
    for (size_t i = 0; i < ggml_backend_reg_count(); ++i) {
        now += (i ? "," : "") + std::string(ggml_backend_reg_name(ggml_backend_reg_get(i)));
    }
    if (now != names) {
        names = now;
    }
    return names.c_str();
}

// Defaults that llama.cpp has had for years, spread over its params structs: read through a layout that is not the loaded
// library's, some of them come out wrong.
static bool layouts_agree() {
    const llama_context_params c = llama_context_default_params();
    const llama_model_params   m = llama_model_default_params();
    return c.n_ctx == 512 && c.n_batch == 2048 && c.n_ubatch == 512 && c.n_seq_max == 1 && c.yarn_ext_factor == -1.0f && c.defrag_thold == -1.0f &&
           c.type_k == GGML_TYPE_F16 && c.type_v == GGML_TYPE_F16 && !c.cb_eval && !c.abort_callback && !c.samplers && c.n_samplers == 0 &&
           !c.ctx_other && c.offload_kqv && !m.tensor_split && !m.progress_callback && !m.kv_overrides && !m.vocab_only && !m.load_mtp;
}

void require_own_llama() {
    static const bool agree = layouts_agree();
    if (!agree) {
        fail(abi::ERROR_UNSUPPORTED, "the loaded libllama (%s) was built from another llama.cpp than this library (%s, %s): its structs have another layout. Load the libllama that lies beside this library",
             llama_version(), SPB_LLAMA_VERSION, llama_commit());
    }
    static std::once_flag once;
    std::call_once(once, [] {
        if (std::string(llama_version()) != SPB_LLAMA_VERSION) {
            log(abi::LOG_WARN, "the loaded libllama is %s, this library was built with %s (%s)\n", llama_version(), SPB_LLAMA_VERSION, llama_commit());
        }
    });
}

namespace impl {

int32_t build_info(abi::build_details & out) {
    out.abi_version          = abi::VERSION;
    out.llama_commit         = llama_commit();
    out.llama_version_built  = SPB_LLAMA_VERSION;
    out.llama_version_loaded = llama_version();
    out.backends             = backends();
    out.compiler             = compiler();
    out.spec_hash            = abi::SPEC_HASH;
    return abi::OK;
}

} // namespace impl
} // namespace spb
