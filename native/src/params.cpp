#include "params.h"

#include "barrier.h"

#include <algorithm>
#include <fstream>

namespace spb {

// In upstream's order of priority. ngram-cache's longest draft is fixed upstream.
static const strategy_info STRATEGIES[] = {
    // name            type                                    draft  rows   block  saved
    {"ngram-simple",  COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE,  false, false, false, true },
    {"ngram-map-k",   COMMON_SPECULATIVE_TYPE_NGRAM_MAP_K,   false, false, false, false},
    {"ngram-map-k4v", COMMON_SPECULATIVE_TYPE_NGRAM_MAP_K4V, false, false, false, false},
    {"ngram-mod",     COMMON_SPECULATIVE_TYPE_NGRAM_MOD,     false, false, false, false},
    {"ngram-cache",   COMMON_SPECULATIVE_TYPE_NGRAM_CACHE,   false, false, false, true },
    {"draft-simple",  COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE,  true,  false, false, true },
    {"draft-eagle3",  COMMON_SPECULATIVE_TYPE_DRAFT_EAGLE3,  true,  true,  false, true },
    {"draft-mtp",     COMMON_SPECULATIVE_TYPE_DRAFT_MTP,     true,  true,  false, true },
    {"draft-dflash",  COMMON_SPECULATIVE_TYPE_DRAFT_DFLASH,  true,  true,  true,  true },
    {"draft-dspark",  COMMON_SPECULATIVE_TYPE_DRAFT_DSPARK,  true,  true,  true,  true },
};

static const int32_t NGRAM_CACHE_DRAFT_MAX = 8;

static const char * const AUTO = "auto"; // the strategy that the models are made for

static const strategy_info * strategy_named(const std::string & name) {
    for (const auto & s : STRATEGIES) {
        if (name == s.name) {
            return &s;
        }
    }
    return nullptr;
}

const strategy_info * strategy_of(common_speculative_type type) {
    return std::find_if(std::begin(STRATEGIES), std::end(STRATEGIES), [&](const strategy_info & s) { return s.type == type; });
}

std::string strategy_names() {
    std::string names = "none, auto";
    for (const auto & s : STRATEGIES) {
        names += std::string(", ") + s.name;
    }
    return names;
}

static std::vector<std::string> split(const char * list) {
    std::vector<std::string> names(1);
    for (const char * c = list; *c; ++c) {
        if (*c == ',') {
            names.emplace_back();
        } else if (*c != ' ' && *c != '\t') {
            names.back() += *c;
        }
    }
    return names;
}

static void require_readable_cache(const char * path, const char * field) {
    if (!path || !*path) {
        return;
    }
    // the layout that upstream asserts on while it reads: n-gram, count, then count pairs of token and number
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        fail(abi::ERROR_INVALID_ARGUMENT, "params.%s: cannot open '%s'", field, path);
    }
    for (;;) {
        int32_t ngram[4];
        if (!file.read(reinterpret_cast<char *>(ngram), sizeof(ngram))) {
            if (file.gcount() == 0) {
                return;
            }
            break;
        }
        int32_t n = 0;
        if (!file.read(reinterpret_cast<char *>(&n), sizeof(n)) || n <= 0) {
            break;
        }
        bool whole = true;
        for (int32_t i = 0; i < n && whole; ++i) {
            int32_t pair[2];
            whole = (bool) file.read(reinterpret_cast<char *>(pair), sizeof(pair)) && pair[1] > 0;
        }
        if (!whole) {
            break;
        }
    }
    fail(abi::ERROR_INVALID_ARGUMENT, "params.%s: '%s' is not an n-gram cache file, or it is cut short", field, path);
}

bool wants_detection(const abi::params & p) {
    const std::vector<std::string> names = split(p.strategies);
    return std::find(names.begin(), names.end(), AUTO) != names.end();
}

std::vector<const strategy_info *> parse_strategies(const abi::params & p, const strategy_info * detected) {
    std::vector<const strategy_info *> found;
    std::string                        first; // name beside which `none` cannot stand
    bool                               none = false;
    for (const std::string & name : split(p.strategies)) {
        if (name == "none") {
            none = true;
            continue;
        }
        const strategy_info * s = name == AUTO ? detected : strategy_named(name);
        if (!s && name != AUTO) {
            fail(abi::ERROR_INVALID_ARGUMENT, "params.strategies: '%s' is not a strategy; known are %s", name.c_str(), strategy_names().c_str());
        }
        first = first.empty() ? name : first;
        if (s && std::find(found.begin(), found.end(), s) == found.end()) {
            found.push_back(s);
        }
    }
    if (none && !first.empty()) {
        fail(abi::ERROR_INVALID_ARGUMENT, "params.strategies: 'none' cannot stand beside '%s'", first.c_str());
    }
    const strategy_info * model = nullptr;
    for (const strategy_info * s : found) {
        if (s->draft_model && wants_detection(p) && s != detected) {
            fail(abi::ERROR_INVALID_ARGUMENT, "params.strategies: 'auto' finds the draft strategy, so '%s' cannot stand beside it", s->name);
        }
        if (s->draft_model && model) {
            fail(abi::ERROR_UNSUPPORTED, "params.strategies: '%s' and '%s' both need the draft context, and there is one: name one of them",
                 model->name, s->name);
        }
        model = s->draft_model ? s : model;
    }
    if (model && p.n_draft_max == 0) {
        found.erase(std::find(found.begin(), found.end(), model));
    }
    if (p.n_draft_min > p.n_draft_max) {
        fail(abi::ERROR_INVALID_ARGUMENT, "params.n_draft_min is %d, more than n_draft_max, which is %d: every draft would be thrown away",
             p.n_draft_min, p.n_draft_max);
    }
    for (const strategy_info * s : found) {
        if (s->type == COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE && p.ngram_simple_m < p.ngram_simple_n) {
            fail(abi::ERROR_INVALID_ARGUMENT, "params.ngram_simple_m is %d, less than ngram_simple_n, which is %d: nothing would ever be drafted",
                 p.ngram_simple_m, p.ngram_simple_n);
        }
        if (s->type == COMMON_SPECULATIVE_TYPE_NGRAM_MOD && p.ngram_mod_n_max < p.ngram_mod_n_min) {
            fail(abi::ERROR_INVALID_ARGUMENT, "params.ngram_mod_n_max is %d, less than ngram_mod_n_min, which is %d: nothing would ever be drafted",
                 p.ngram_mod_n_max, p.ngram_mod_n_min);
        }
        if (s->type == COMMON_SPECULATIVE_TYPE_NGRAM_CACHE) {
            require_readable_cache(p.ngram_cache_static, "ngram_cache_static");
            require_readable_cache(p.ngram_cache_dynamic, "ngram_cache_dynamic");
        }
    }
    std::sort(found.begin(), found.end()); // the table's order is upstream's
    return found;
}

const strategy_info * draft_strategy(const std::vector<const strategy_info *> & strategies) {
    for (const strategy_info * s : strategies) {
        if (s->draft_model) {
            return s;
        }
    }
    return nullptr;
}

static int32_t longest_of(const strategy_info & s, const abi::params & p) {
    switch (s.type) {
        case COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE:  return p.ngram_simple_m;
        case COMMON_SPECULATIVE_TYPE_NGRAM_MAP_K:   return p.ngram_map_k_m;
        case COMMON_SPECULATIVE_TYPE_NGRAM_MAP_K4V: return p.ngram_map_k4v_m;
        case COMMON_SPECULATIVE_TYPE_NGRAM_MOD:     return p.ngram_mod_n_max;
        case COMMON_SPECULATIVE_TYPE_NGRAM_CACHE:   return NGRAM_CACHE_DRAFT_MAX;
        default:                                    return p.n_draft_max;
    }
}

int32_t longest_draft(const std::vector<const strategy_info *> & strategies, const abi::params & p) {
    int32_t longest = 0;
    for (const strategy_info * s : strategies) {
        longest = std::max(longest, longest_of(*s, p));
    }
    return longest;
}

common_params_speculative to_upstream(const std::vector<const strategy_info *> & strategies, const abi::params & p) {
    common_params_speculative out;
    out.types.clear();
    for (const strategy_info * s : strategies) {
        out.types.push_back(s->type);
    }
    if (out.types.empty()) {
        out.types.push_back(COMMON_SPECULATIVE_TYPE_NONE);
    }
    out.draft.n_max            = p.n_draft_max;
    out.draft.n_min            = p.n_draft_min;
    out.draft.p_min            = p.p_min;
    out.draft.backend_sampling = p.backend_sampling != 0;
    out.ngram_simple           = {(uint16_t) p.ngram_simple_n, (uint16_t) p.ngram_simple_m, 1};
    out.ngram_map_k            = {(uint16_t) p.ngram_map_k_n, (uint16_t) p.ngram_map_k_m, 1};
    out.ngram_map_k4v          = {(uint16_t) p.ngram_map_k4v_n, (uint16_t) p.ngram_map_k4v_m, (uint16_t) p.ngram_map_k4v_min_hits};
    out.ngram_mod              = {p.ngram_mod_n_match, p.ngram_mod_n_max, p.ngram_mod_n_min};
    if (p.ngram_cache_static) {
        out.ngram_cache.lookup_cache_static = p.ngram_cache_static;
    }
    if (p.ngram_cache_dynamic) {
        out.ngram_cache.lookup_cache_dynamic = p.ngram_cache_dynamic;
    }
    return out;
}

} // namespace spb
