// Upstream's common code logs through five functions of its own; defining them here keeps its worker thread and its
// terminal output out of a library and sends every line to the caller's callback instead.
#include "log_bridge.h"

#include "barrier.h"
#include "impl.h"

#include "llama.h"
#include "log.h"

#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace {

// A line holds the mutex shared while the callback runs, so that log_set returns only when the old one is done: its owner
// may then free it.
struct sink {
    std::shared_mutex      mutex;
    spb::abi::log_callback callback = nullptr;
    void *                 user     = nullptr;
};

thread_local int32_t last_level = spb::abi::LOG_INFO; // a continued line has the level of the one before
thread_local bool    in_callback;

sink & the_sink() {
    static sink * s = new sink; // never destroyed: a thread may log while the process exits
    return *s;
}

void emit(int32_t level, const char * text) {
    if (level >= spb::abi::LOG_DEBUG && level <= spb::abi::LOG_ERROR) {
        last_level = level;
    }
    if (in_callback) {
        return; // what the callback itself makes llama.cpp say
    }
    sink &                                    s = the_sink();
    const std::shared_lock<std::shared_mutex> lock(s.mutex);
    if (s.callback) {
        in_callback = true;
        s.callback(last_level, text, s.user);
        in_callback = false;
    }
}

void from_ggml(ggml_log_level level, const char * text, void * /*user*/) {
    emit(level == GGML_LOG_LEVEL_CONT || level == GGML_LOG_LEVEL_NONE ? 0 : (int32_t) level, text);
}

void emit_formatted(int32_t level, const char * format, va_list args) {
    va_list copy;
    va_copy(copy, args);
    const int n = std::vsnprintf(nullptr, 0, format, copy);
    va_end(copy);
    if (n < 0) {
        return;
    }
    std::vector<char> text((size_t) n + 1);
    std::vsnprintf(text.data(), text.size(), format, args);
    emit(level, text.data());
}

// Silent until the caller asks for lines: a library does not write to a terminal that is not its own.
struct silence_by_default {
    silence_by_default() { llama_log_set(from_ggml, nullptr); }
} silence;

} // namespace

namespace spb {

void log(int32_t level, const char * format, ...) {
    va_list args;
    va_start(args, format);
    emit_formatted(level, format, args);
    va_end(args);
}

namespace impl {

int32_t log_set(abi::log_callback callback, void * user) {
    if (in_callback) {
        fail(abi::ERROR_BUSY, "log_set was called from the log callback: wait until it has returned");
    }
    sink &                                    s = the_sink();
    const std::unique_lock<std::shared_mutex> lock(s.mutex);
    s.callback = callback;
    s.user     = user;
    llama_log_set(from_ggml, nullptr); // another library of the process may have taken it over
    return abi::OK;
}

} // namespace impl
} // namespace spb

struct common_log {};

struct common_log * common_log_main() {
    static common_log log;
    return &log;
}

void common_log_add(struct common_log * /*log*/, enum ggml_log_level level, const char * format, ...) {
    va_list args;
    va_start(args, format);
    emit_formatted(level == GGML_LOG_LEVEL_CONT || level == GGML_LOG_LEVEL_NONE ? 0 : (int32_t) level, format, args);
    va_end(args);
}

int common_log_get_verbosity_thold(void) {
    if (in_callback) {
        return LOG_LEVEL_OUTPUT - 1;
    }
    const std::shared_lock<std::shared_mutex> lock(the_sink().mutex);
    return the_sink().callback ? LOG_LEVEL_INFO : LOG_LEVEL_OUTPUT - 1;
}

void common_log_set_verbosity_thold(int /*verbosity*/) {}

int common_log_get_verbosity(enum ggml_log_level /*level*/) {
    return LOG_LEVEL_INFO;
}
