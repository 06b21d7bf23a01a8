// What stands between the C boundary and the C++ behind it: errors as values, one thread at a time, no exception out.
#pragma once

#include "abi.h"

#include <atomic>
#include <cstdarg>
#include <exception>
#include <new>
#include <string>

namespace spb {

// A failure on its way to the boundary: a negative status and a message that names what is wrong and what would be right.
struct failure : std::exception {
    int32_t     status;
    std::string message;

    failure(int32_t status, std::string message) : status(status), message(std::move(message)) {}

    const char * what() const noexcept override { return message.c_str(); }
};

#if defined(__GNUC__)
#define SPB_PRINTF(i, j) __attribute__((format(printf, i, j)))
#else
#define SPB_PRINTF(i, j)
#endif

[[noreturn]] void fail(int32_t status, const char * format, ...) SPB_PRINTF(2, 3);

std::string format(const char * format, ...) SPB_PRINTF(1, 2);

// Base of everything a handle points to.
struct object {
    std::string       last_error;
    std::atomic<bool> in_use{false};
};

// Remembers the message of a failure: on the object, or for this thread when there is none.
void remember(object * self, const char * function, const char * message) noexcept;

const char * last_error(const object * self) noexcept;

// Translates the exception in flight into a status and remembers its message. Only inside a catch block.
int32_t translate(object * self, const char * function) noexcept;

// Runs `body` behind the barrier: nothing it throws gets out.
template <class F> int32_t barrier(object * self, const char * function, F && body) noexcept {
    try {
        return body();
    } catch (...) {
        return translate(self, function);
    }
}

// Marks an object as in use for one call. A second thread, or a callback that calls back into its own object, is refused.
class exclusive {
public:
    exclusive(object & self, const char * handle);
    ~exclusive();
    exclusive(const exclusive &)             = delete;
    exclusive & operator=(const exclusive &) = delete;

private:
    object & self;
};

} // namespace spb
