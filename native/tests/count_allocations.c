// Preloaded into a program: counts heap allocations and says at exit from where they came.
//
// ALLOCATIONS_OUT names the file that is written: a line `total N`, then, with ALLOCATIONS_LIBRARY set to the end of a library's
// file name, one line per distinct call stack of allocations that this library made itself (not one that it called):
// `N offset offset ...`, the offsets of its frames, innermost first. glibc only.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void * __libc_malloc(size_t);
extern void * __libc_calloc(size_t, size_t);
extern void * __libc_realloc(void *, size_t);
extern void * __libc_memalign(size_t, size_t);

enum { DEPTH = 24, KEPT = 8, SLOTS = 1 << 14 };

typedef struct {
    uint64_t  count;
    uintptr_t frames[KEPT];
} stack;

static atomic_ullong    total;
static stack            stacks[SLOTS];
static atomic_flag      lock = ATOMIC_FLAG_INIT;
static _Thread_local int inside;

typedef struct {
    uintptr_t first, last;
} range;

// The library that is looked at, and what stands between it and the allocator: this file, the C and the C++ runtime.
static range library, between[3];

static void extend(range * r, uintptr_t from, uintptr_t to) {
    r->first = r->first ? r->first : from;
    r->last  = to;
}

static int ends_with(const char * text, const char * end) {
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static void find_library(void) {
    const char * wanted = getenv("ALLOCATIONS_LIBRARY");
    FILE *       maps   = fopen("/proc/self/maps", "r");
    char         line[4096];
    while (maps && fgets(line, sizeof(line), maps)) {
        unsigned long from, to;
        char *        name = strchr(line, '/');
        if (!name || sscanf(line, "%lx-%lx", &from, &to) != 2) {
            continue;
        }
        name[strcspn(name, "\n")] = 0;
        if (ends_with(name, wanted)) {
            extend(&library, from, to);
        } else if (ends_with(name, "/count_allocations.so")) {
            extend(&between[0], from, to);
        } else if (strstr(name, "/libc.so") || strstr(name, "/libc-")) {
            extend(&between[1], from, to);
        } else if (strstr(name, "/libstdc++.so")) {
            extend(&between[2], from, to);
        }
    }
    if (maps) {
        fclose(maps);
    }
}

static int within(range r, uintptr_t at) {
    return at >= r.first && at < r.last;
}

static void note_stack(void) {
    if (!library.first) {
        find_library();
        if (!library.first) {
            return;
        }
    }
    void *    all[DEPTH];
    const int n = backtrace(all, DEPTH);
    stack     s = {0, {0}};
    int       k = 0;
    for (int i = 0; i < n && k < KEPT; ++i) {
        const uintptr_t at = (uintptr_t) all[i];
        if (within(library, at)) {
            s.frames[k++] = at - library.first;
        } else if (k == 0 && !within(between[0], at) && !within(between[1], at) && !within(between[2], at)) {
            return; // a library that ours called
        }
    }
    if (k == 0) {
        return;
    }
    uint64_t hash = 1469598103934665603u;
    for (int i = 0; i < k; ++i) {
        hash = (hash ^ s.frames[i]) * 1099511628211u;
    }
    while (atomic_flag_test_and_set(&lock)) {
    }
    for (int i = 0; i < SLOTS; ++i) {
        stack * slot = &stacks[(hash + (uint64_t) i) % SLOTS];
        if (slot->count == 0) {
            memcpy(slot->frames, s.frames, sizeof(s.frames));
        } else if (memcmp(slot->frames, s.frames, sizeof(s.frames)) != 0) {
            continue;
        }
        slot->count++;
        break;
    }
    atomic_flag_clear(&lock);
}

static void count(void) {
    if (inside) {
        return;
    }
    inside = 1;
    atomic_fetch_add(&total, 1);
    if (getenv("ALLOCATIONS_LIBRARY")) {
        note_stack();
    }
    inside = 0;
}

void * malloc(size_t n) {
    count();
    return __libc_malloc(n);
}

void * calloc(size_t n, size_t size) {
    count();
    return __libc_calloc(n, size);
}

void * realloc(void * p, size_t n) {
    count();
    return __libc_realloc(p, n);
}

void * aligned_alloc(size_t alignment, size_t n) {
    count();
    return __libc_memalign(alignment, n);
}

int posix_memalign(void ** out, size_t alignment, size_t n) {
    count();
    *out = __libc_memalign(alignment, n);
    return *out ? 0 : 12;
}

__attribute__((destructor)) static void report(void) {
    inside           = 1;
    const char * out = getenv("ALLOCATIONS_OUT");
    FILE *       f   = out ? fopen(out, "w") : NULL;
    if (!f) {
        return;
    }
    fprintf(f, "total %llu\n", (unsigned long long) atomic_load(&total));
    for (int i = 0; i < SLOTS; ++i) {
        if (stacks[i].count) {
            fprintf(f, "%llu", (unsigned long long) stacks[i].count);
            for (int k = 0; k < KEPT && stacks[i].frames[k]; ++k) {
                fprintf(f, " %lx", (unsigned long) stacks[i].frames[k]);
            }
            fprintf(f, "\n");
        }
    }
    fclose(f);
}
