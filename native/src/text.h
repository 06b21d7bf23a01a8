// Text that may be shown: whole UTF-8 characters, and nothing that may still turn out to be a stop string.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace spb {

// Turns bytes into whole UTF-8 characters. Bytes that cannot be one become U+FFFD; the start of one is kept back.
class utf8_assembler {
public:
    std::string feed(const char * bytes, size_t n);

    // What was kept back can never be completed: U+FFFD for it, or nothing.
    std::string finish();

private:
    std::string kept;
};

// Finds stop strings in text that arrives in parts.
class stop_matcher {
public:
    stop_matcher() = default;
    explicit stop_matcher(std::vector<std::string> stops) : stops(std::move(stops)) {}

    // Adds text and returns what is sure not to belong to a stop string. With a stop string found, that is all before
    // the first one; nothing comes after it.
    std::string feed(const std::string & text);

    // The rest, when no more text comes.
    std::string finish();

    // Index of the stop string that was found, or -1.
    int found() const { return index; }

private:
    std::vector<std::string> stops;
    std::string              kept;
    int                      index = -1;
};

} // namespace spb
