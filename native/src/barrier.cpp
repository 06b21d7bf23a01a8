#include "barrier.h"

#include <cstdio>
#include <stdexcept>

namespace spb {

static std::string vformat(const char * format, va_list args) {
    va_list copy;
    va_copy(copy, args);
    const int n = std::vsnprintf(nullptr, 0, format, copy);
    va_end(copy);
    std::string text(n > 0 ? n : 0, '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, args);
    return text;
}

void fail(int32_t status, const char * format, ...) {
    va_list args;
    va_start(args, format);
    std::string text = vformat(format, args);
    va_end(args);
    throw failure(status, std::move(text));
}

std::string format(const char * format, ...) {
    va_list args;
    va_start(args, format);
    std::string text = vformat(format, args);
    va_end(args);
    return text;
}

static std::string & thread_error() {
    static thread_local std::string text;
    return text;
}

void remember(object * self, const char * function, const char * message) noexcept {
    try {
        std::string & text = self ? self->last_error : thread_error();
        text               = function;
        text += ": ";
        text += message;
    } catch (...) { // no memory for the message: the status still says what happened
    }
}

const char * last_error(const object * self) noexcept {
    return self ? self->last_error.c_str() : thread_error().c_str();
}

int32_t translate(object * self, const char * function) noexcept {
    try {
        throw;
    } catch (const failure & e) {
        // a call refused because another thread is inside must not write into that thread's message
        remember(e.status == abi::ERROR_BUSY ? nullptr : self, function, e.what());
        return e.status;
    } catch (const std::bad_alloc &) {
        remember(self, function, "out of memory");
        return abi::ERROR_NO_MEMORY;
    } catch (const std::exception & e) {
        remember(self, function, e.what());
        return abi::ERROR_INTERNAL;
    } catch (...) {
        remember(self, function, "an exception of unknown type");
        return abi::ERROR_INTERNAL;
    }
}

exclusive::exclusive(object & self, const char * handle) : self(self) {
    if (self.in_use.exchange(true, std::memory_order_acquire)) {
        fail(abi::ERROR_BUSY, "%s is in use by another call: one thread at a time, and no call from its own callback", handle);
    }
}

exclusive::~exclusive() {
    self.in_use.store(false, std::memory_order_release);
}

} // namespace spb
