// What the library was built from, and whether the loaded llama.cpp is the one.
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

namespace impl {

int32_t build_info(abi::build_details & out) {
    out.abi_version          = abi::VERSION;
    out.llama_commit         = SPB_LLAMA_COMMIT;
    out.llama_version_built  = SPB_LLAMA_VERSION;
    out.llama_version_loaded = llama_version();
    out.backends             = backends();
    out.compiler             = compiler();
    out.spec_hash            = abi::SPEC_HASH;
    return abi::OK;
}

} // namespace impl
} // namespace spb
