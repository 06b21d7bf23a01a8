#include "text.h"

#include <algorithm>

namespace spb {

static const char REPLACEMENT[] = "\xEF\xBF\xBD";

// Length of the character that starts with `c`, or 0 if none can.
static size_t length_of(unsigned char c) {
    return c < 0x80 ? 1 : c >= 0xC2 && c <= 0xDF ? 2 : c >= 0xE0 && c <= 0xEF ? 3 : c >= 0xF0 && c <= 0xF4 ? 4 : 0;
}

// Whether `c` may be byte `i` (from 1) of a character that starts with `first`: no overlong forms, no surrogates.
static bool continues(unsigned char first, size_t i, unsigned char c) {
    unsigned char low = 0x80, high = 0xBF;
    if (i == 1) {
        low  = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : low;
        high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : high;
    }
    return c >= low && c <= high;
}

std::string utf8_assembler::feed(const char * bytes, size_t n) {
    kept.append(bytes, n);
    std::string out;
    size_t      at = 0;
    while (at < kept.size()) {
        const auto   first = (unsigned char) kept[at];
        const size_t want  = length_of(first);
        size_t       have  = 1;
        while (have < want && at + have < kept.size() && continues(first, have, (unsigned char) kept[at + have])) {
            ++have;
        }
        if (want > 0 && have == want) {
            out.append(kept, at, want);
        } else if (want > 0 && at + have == kept.size()) {
            break; // the rest may come
        } else {
            out += REPLACEMENT;
        }
        at += have;
    }
    kept.erase(0, at);
    return out;
}

std::string utf8_assembler::finish() {
    const bool cut = !kept.empty();
    kept.clear();
    return cut ? REPLACEMENT : "";
}

std::string stop_matcher::feed(const std::string & text) {
    if (index >= 0) {
        return {};
    }
    kept += text;
    size_t first = std::string::npos;
    for (size_t i = 0; i < stops.size(); ++i) {
        const size_t at = kept.find(stops[i]);
        if (at < first) {
            first = at;
            index = (int) i;
        }
    }
    if (index >= 0) {
        std::string out = kept.substr(0, first);
        kept.clear();
        return out;
    }
    size_t hold = 0; // longest end of the text that begins a stop string
    for (const std::string & stop : stops) {
        for (size_t n = std::min(stop.size() - 1, kept.size()); n > hold; --n) {
            if (kept.compare(kept.size() - n, n, stop, 0, n) == 0) {
                hold = n;
            }
        }
    }
    std::string out = kept.substr(0, kept.size() - hold);
    kept.erase(0, kept.size() - hold);
    return out;
}

std::string stop_matcher::finish() {
    std::string out;
    out.swap(kept);
    return out;
}

} // namespace spb
