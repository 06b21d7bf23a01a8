#include "library_folder.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace spb {

static std::string library_path(const void * symbol) {
#ifdef _WIN32
    HMODULE module = nullptr;
    char    path[MAX_PATH * 4];
    if (!GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, (LPCSTR) symbol, &module)) {
        return {};
    }
    const DWORD n = GetModuleFileNameA(module, path, (DWORD) sizeof(path));
    return n > 0 && n < sizeof(path) ? std::string(path, n) : std::string();
#else
    Dl_info info;
    return dladdr(symbol, &info) && info.dli_fname ? std::string(info.dli_fname) : std::string();
#endif
}

std::string library_folder(const void * symbol) {
    const std::string path = library_path(symbol);
    const size_t      end  = path.find_last_of("/\\");
    return end == std::string::npos ? std::string() : path.substr(0, end);
}

} // namespace spb
