#include "transfer.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace spb::check {

// A struct longer than this is an unset `struct_size`, not a newer caller.
static const uint64_t SIZE_MAX_PLAUSIBLE = 65536;

static std::string size_list(const struct_rule & rule) {
    std::string text;
    for (size_t i = 0; i < rule.n_sizes; ++i) {
        text += i == 0 ? "" : i + 1 < rule.n_sizes ? ", " : " or ";
        text += std::to_string(rule.sizes[i]);
    }
    return text;
}

static void require_known(uint64_t size, const struct_rule & rule, const std::string & name) {
    const uint32_t * end = rule.sizes + rule.n_sizes;
    if (std::find(rule.sizes, end, size) != end || (size > rule.size() && size <= SIZE_MAX_PLAUSIBLE)) {
        return;
    }
    const std::string hint = rule.init ? format(" (%s sets it)", rule.init) : " (sizeof the struct)";
    fail(abi::ERROR_INVALID_ARGUMENT, "%s is %" PRIu64 ", expected %s%s", name.c_str(), size, size_list(rule).c_str(), hint.c_str());
}

uint32_t struct_size(const void * caller, const struct_rule & rule, const place & at) {
    uint32_t size;
    std::memcpy(&size, caller, sizeof(size));
    require_known(size, rule, at.field("struct_size").text());
    return size;
}

void check_size(size_t size, const struct_rule & rule, const place & at) {
    const struct_rule plain = {rule.sizes, rule.n_sizes, nullptr};
    require_known(size, plain, at.text());
}

void read_struct(void * full, const void * caller, const struct_rule & rule, const place & at) {
    const uint32_t ours  = rule.size();
    const uint32_t size  = struct_size(caller, rule, at);
    const char *   bytes = static_cast<const char *>(caller);
    if (std::any_of(bytes + std::min(size, ours), bytes + size, [](char c) { return c != 0; })) {
        fail(abi::ERROR_UNSUPPORTED, "%s sets fields behind its first %" PRIu32 " bytes; this library (version %s) does not know them",
             at.text().c_str(), ours, abi::VERSION_NAME);
    }
    std::memcpy(full, caller, std::min(size, ours));
    std::memcpy(full, &ours, sizeof(ours));
}

void write_struct(void * caller, uint32_t size, const void * full, const struct_rule & rule) {
    const uint32_t known = std::min(size, rule.size());
    std::memcpy(caller, full, known);
    std::memset(static_cast<char *>(caller) + known, 0, size - known);
    std::memcpy(caller, &size, sizeof(size));
}

} // namespace spb::check
