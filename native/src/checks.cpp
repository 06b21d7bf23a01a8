#include "checks.h"

#include <cinttypes>

namespace spb::check {

std::string place::text() const {
    if (!outer) {
        return name;
    }
    return outer->text() + (name ? std::string(".") + name : "[" + std::to_string(index) + "]");
}

static std::string number(int64_t v) { return std::to_string(v); }

static std::string number(uint64_t v) { return std::to_string(v); }

static std::string number(double v) { return format("%g", v); }

template <class T> [[noreturn]] static void outside(const place & at, T value, const T * min, const T * max) {
    std::string expected;
    if (min && max) {
        expected = *min == *max ? number(*min) : number(*min) + " to " + number(*max);
    } else {
        expected = min ? "at least " + number(*min) : "at most " + number(*max);
    }
    fail(abi::ERROR_INVALID_ARGUMENT, "%s is %s, expected %s", at.text().c_str(), number(value).c_str(), expected.c_str());
}

void is_outside(const place & at, int64_t value, const int64_t * min, const int64_t * max) { outside(at, value, min, max); }

void is_outside(const place & at, uint64_t value, const uint64_t * min, const uint64_t * max) { outside(at, value, min, max); }

void is_outside(const place & at, double value, const double * min, const double * max) { outside(at, value, min, max); }

void is_null(const place & at) {
    fail(abi::ERROR_INVALID_ARGUMENT, "%s is NULL", at.text().c_str());
}

void is_null_with_length(const place & at, const char * length_name, uint64_t length) {
    fail(abi::ERROR_INVALID_ARGUMENT, "%s is NULL, but %s is %" PRIu64, at.text().c_str(), length_name, length);
}

void strings(const char * const * p, size_t n, const place & at) {
    for (size_t i = 0; i < n; ++i) {
        not_null(p[i], at.at(i));
    }
}

static std::string list(const enum_value * known, size_t n) {
    std::string text;
    for (size_t i = 0; i < n; ++i) {
        text += i == 0 ? "" : i + 1 < n ? ", " : " or ";
        text += format("%d (%s)", (int) known[i].value, known[i].name);
    }
    return text;
}

void one_of(int32_t value, const enum_value * known, size_t n_known, const place & at) {
    for (size_t i = 0; i < n_known; ++i) {
        if (value == known[i].value) {
            return;
        }
    }
    fail(abi::ERROR_INVALID_ARGUMENT, "%s is %d, expected %s", at.text().c_str(), (int) value, list(known, n_known).c_str());
}

void flags_of(int32_t value, const enum_value * known, size_t n_known, const place & at) {
    int32_t rest = value;
    for (size_t i = 0; i < n_known; ++i) {
        rest &= ~known[i].value;
    }
    if (rest != 0) {
        fail(abi::ERROR_INVALID_ARGUMENT, "%s is %d, but bits %d are unknown; expected a combination of %s", at.text().c_str(),
             (int) value, (int) rest, list(known, n_known).c_str());
    }
}

static bool in_range(int32_t seq_id, int32_t n_seq) {
    return n_seq < 0 || (seq_id >= 0 && seq_id < n_seq);
}

[[noreturn]] static void not_a_sequence(int32_t seq_id, int32_t n_seq, const place & at, const char * or_all) {
    fail(abi::ERROR_INVALID_ARGUMENT, "%s is %d, but this object has %d sequence%s (0 to %d)%s", at.text().c_str(), (int) seq_id,
         (int) n_seq, n_seq == 1 ? "" : "s", (int) n_seq - 1, or_all);
}

void sequence(int32_t seq_id, int32_t n_seq, const place & at) {
    if (!in_range(seq_id, n_seq)) {
        not_a_sequence(seq_id, n_seq, at, "");
    }
}

void sequence_or_all(int32_t seq_id, int32_t n_seq, const place & at) {
    if (seq_id != abi::SEQ_ALL && !in_range(seq_id, n_seq)) {
        static const std::string or_all = format("; %d means all", (int) abi::SEQ_ALL);
        not_a_sequence(seq_id, n_seq, at, or_all.c_str());
    }
}

void sequences(const int32_t * seq_ids, size_t n, int32_t n_seq, const place & at) {
    for (size_t i = 0; seq_ids && i < n; ++i) {
        sequence(seq_ids[i], n_seq, at.at(i));
    }
}

} // namespace spb::check
