# The part of llama.cpp's `common/` that speculative decoding needs. The linker drops the functions that nothing calls, and
# with them the need for the rest of `common/`. speculative.cpp is missing on purpose: driver_access.cpp includes it. Log
# functions come from log_bridge.cpp, so that lines reach the caller's callback.
set(sources common.cpp ngram-cache.cpp ngram-map.cpp ngram-mod.cpp reasoning-budget.cpp sampling.cpp trie.cpp unicode.cpp)
list(TRANSFORM sources PREPEND "${LLAMA_DIR}/common/")

add_library(llama_common_part OBJECT ${sources})
target_include_directories(llama_common_part SYSTEM PUBLIC "${LLAMA_DIR}/common" "${LLAMA_DIR}/vendor")
target_link_libraries(llama_common_part PUBLIC llama ggml)

# Only a few functions of these are kept, none of them in a round: small is better than fast.
if(NOT MSVC)
  set(cold common.cpp reasoning-budget.cpp trie.cpp unicode.cpp)
  list(TRANSFORM cold PREPEND "${LLAMA_DIR}/common/")
  set_source_files_properties(${cold} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-Os>")
endif()
