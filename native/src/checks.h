// The checks that the generated entry points make of what a caller passes. Each throws with a message that names the
// argument and says what it may be; the numbers and names come from the spec.
#pragma once

#include "barrier.h"

#include <cstddef>
#include <type_traits>

namespace spb::check {

// Where a value stands: "n_keep", "params.speculative.n_draft_max", "messages[2].role". Becomes text only in a failure.
class place {
public:
    place(const char * name) : outer(nullptr), name(name), index(0) {} // NOLINT: a name is a place

    place field(const char * member) const { return place(this, member, 0); }
    place at(size_t i) const { return place(this, nullptr, i); }

    std::string text() const;

private:
    place(const place * outer, const char * name, size_t index) : outer(outer), name(name), index(index) {}

    const place * outer;
    const char *  name; // null for an element of an array
    size_t        index;
};

// --- failures, out of line so that a passed check costs a comparison ---

[[noreturn]] void is_null(const place & at);
[[noreturn]] void is_null_with_length(const place & at, const char * length_name, uint64_t length);
[[noreturn]] void is_outside(const place & at, int64_t value, const int64_t * min, const int64_t * max);
[[noreturn]] void is_outside(const place & at, uint64_t value, const uint64_t * min, const uint64_t * max);
[[noreturn]] void is_outside(const place & at, double value, const double * min, const double * max);

// --- pointers ---

template <class T> void not_null(T * p, const place & at) {
    if (!p) {
        is_null(at);
    }
}

// An array that is read or a buffer that is written: NULL only where its length or capacity is 0.
template <class T, class N> void array(const T * p, N n, const place & at, const char * length_name) {
    if constexpr (std::is_signed_v<N>) {
        if (n < 0) {
            const int64_t least = 0;
            is_outside(length_name, (int64_t) n, &least, nullptr);
        }
    }
    if (!p && n != 0) {
        is_null_with_length(at, length_name, (uint64_t) n);
    }
}

// No element of an array of strings is NULL.
void strings(const char * const * p, size_t n, const place & at);

// --- numbers; NaN is in no range ---

template <class T>
using wide = std::conditional_t<std::is_floating_point_v<T>, double, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <class T> void range(T value, std::common_type_t<T> min, std::common_type_t<T> max, const place & at) {
    if (!(value >= min && value <= max)) {
        const wide<T> least = min, most = max;
        is_outside(at, (wide<T>) value, &least, &most);
    }
}

template <class T> void at_least(T value, std::common_type_t<T> min, const place & at) {
    if (!(value >= min)) {
        const wide<T> least = min;
        is_outside(at, (wide<T>) value, &least, nullptr);
    }
}

template <class T> void at_most(T value, std::common_type_t<T> max, const place & at) {
    if (!(value <= max)) {
        const wide<T> most = max;
        is_outside(at, (wide<T>) value, nullptr, &most);
    }
}

// --- enums ---

struct enum_value {
    int32_t      value;
    const char * name;
};

void one_of(int32_t value, const enum_value * known, size_t n_known, const place & at);
void flags_of(int32_t value, const enum_value * known, size_t n_known, const place & at);

template <size_t N> void known(int32_t value, const enum_value (&values)[N], const place & at) {
    one_of(value, values, N, at);
}

template <size_t N> void flags(int32_t value, const enum_value (&values)[N], const place & at) {
    flags_of(value, values, N, at);
}

// --- sequences ---

// Number of sequences where no object is at hand; the sequence checks then pass.
constexpr int32_t UNKNOWN = -1;

void sequence(int32_t seq_id, int32_t n_seq, const place & at);
void sequence_or_all(int32_t seq_id, int32_t n_seq, const place & at);
void sequences(const int32_t * seq_ids, size_t n, int32_t n_seq, const place & at);

} // namespace spb::check
