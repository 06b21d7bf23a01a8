// The devices of this build, by name.
#pragma once

#include "llama.h"

namespace spb {

// Loads the backends that come as libraries of their own, once. They lie beside libggml, wherever the program is.
void load_backends();

// A device list for llama.cpp: empty, for the processor alone, or null for llama.cpp's choice.
class device_list {
public:
    // `name` may be null. Throws ERROR_INVALID_ARGUMENT, with the names that there are, for one that is not among them.
    device_list(const char * name, const char * field);

    void apply(llama_model_params & mp);

private:
    bool               given = false, cpu = false;
    ggml_backend_dev_t list[2] = {nullptr, nullptr};
};

} // namespace spb
