// How structs and objects cross the boundary: the implementation sees full-size copies, the caller's bytes are read and
// written only as far as the caller's `struct_size` says.
#pragma once

#include "checks.h"

namespace spb::check {

// What a growable struct's caller may say of its size.
struct struct_rule {
    const uint32_t * sizes; // of each version of the struct, the present one last
    size_t           n_sizes;
    const char *     init; // function that sets struct_size, or null

    uint32_t size() const { return sizes[n_sizes - 1]; }
};

// Specialised by generated code for each growable struct: `static constexpr struct_rule rule` and `static T defaults()`.
template <class T> struct rules;

// The caller's struct_size. Throws if no version of the struct is that long and it is no newer one either.
uint32_t struct_size(const void * caller, const struct_rule & rule, const place & at);

// Copies what the caller's struct covers over `full`. A newer caller's further fields must be zero: ERROR_UNSUPPORTED.
void read_struct(void * full, const void * caller, const struct_rule & rule, const place & at);

// Writes `full` into a caller's struct of `size` bytes; fields that this library does not know become zero.
void write_struct(void * caller, uint32_t size, const void * full, const struct_rule & rule);

// A struct that comes in, at full size; fields that an older caller does not have take their defaults.
template <class T> T full_copy(const T * caller, const place & at) {
    not_null(caller, at);
    T full = rules<T>::defaults();
    read_struct(&full, caller, rules<T>::rule, at);
    return full;
}

enum null_rule { NOT_NULL, MAY_BE_NULL };

// A growable struct that goes out. `value` is zero at first; it reaches the caller when the call did not fail.
template <class T> class out_struct {
public:
    T value{};

    out_struct(T * caller, const place & at, null_rule null = NOT_NULL) : caller(caller), size(0) {
        if (caller || null == NOT_NULL) {
            not_null(caller, at);
            size = struct_size(caller, rules<T>::rule, at);
        }
        value.struct_size = sizeof(T);
    }

    int32_t deliver(int32_t status) const {
        if (caller && status >= 0) {
            write_struct(caller, size, &value, rules<T>::rule);
        }
        return status;
    }

private:
    T *      caller;
    uint32_t size;
};

// A struct of fixed size that goes out.
template <class T> class out_fixed {
public:
    T value{};

    out_fixed(T * caller, const place & at, null_rule null = NOT_NULL) : caller(caller) {
        if (null == NOT_NULL) {
            not_null(caller, at);
        }
    }

    int32_t deliver(int32_t status) const {
        if (caller && status >= 0) {
            *caller = value;
        }
        return status;
    }

private:
    T * caller;
};

// An object that goes out, as C sees it (`Opaque`) and as it is (`Object`). NULL unless the call succeeds.
template <class Object, class Opaque> class out_object {
public:
    Object * made = nullptr;

    out_object(Opaque ** caller, const place & at) : caller(caller) {
        not_null(caller, at);
        *caller = nullptr;
    }

    int32_t deliver(int32_t status) const {
        *caller = status < 0 ? nullptr : reinterpret_cast<Opaque *>(made);
        return status;
    }

private:
    Opaque ** caller;
};

// Fills a caller's struct of `size` bytes with the defaults.
void check_size(size_t size, const struct_rule & rule, const place & at);

template <class T> void fill_defaults(T * caller, size_t size, const place & at, const place & size_at) {
    not_null(caller, at);
    check_size(size, rules<T>::rule, size_at);
    const T defaults = rules<T>::defaults();
    write_struct(caller, (uint32_t) size, &defaults, rules<T>::rule);
}

} // namespace spb::check
