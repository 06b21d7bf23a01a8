// Where a loaded library lies on disk. Its source includes the system's headers and nothing of ours: windows.h defines
// macros with the names of our statuses.
#pragma once

#include <string>

namespace spb {

// Folder of the library that `symbol` is in, or empty where the system does not say.
std::string library_folder(const void * symbol);

} // namespace spb
