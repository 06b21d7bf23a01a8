// Where the log lines of llama.cpp, of its speculative driver and of this library go.
#pragma once

#include "barrier.h"

namespace spb {

// A line of our own.
void log(int32_t level, const char * format, ...) SPB_PRINTF(2, 3);

} // namespace spb
