// Whether the loaded llama.cpp is the one that this library was built against.
#pragma once

namespace spb {

// Throws ERROR_UNSUPPORTED if the structs of the loaded libllama have another layout; logs a warning if only its version differs.
void require_own_llama();

// Commit of llama.cpp that this library was built from, or "unknown".
const char * llama_commit();

} // namespace spb
