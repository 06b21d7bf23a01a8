#include "devices.h"

#include "barrier.h"
#include "library_folder.h"

#include "ggml-backend.h"

#include <mutex>
#include <string>

namespace spb {

void load_backends() {
    static std::once_flag once;
    std::call_once(once, [] {
        if (ggml_backend_reg_count() > 0) {
            return; // built in, or loaded by the program
        }
        const std::string folder = library_folder((const void *) &ggml_backend_reg_count);
        if (!folder.empty()) {
            ggml_backend_load_all_from_path(folder.c_str());
        }
        if (ggml_backend_reg_count() == 0) {
            ggml_backend_load_all(); // beside the program, or where GGML_BACKEND_PATH says
        }
    });
}

static std::string device_names() {
    std::string names;
    for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
        names += (i ? ", " : "") + std::string(ggml_backend_dev_name(ggml_backend_dev_get(i)));
    }
    return names;
}

device_list::device_list(const char * name, const char * field) {
    if (!name) {
        return;
    }
    ggml_backend_dev_t dev = ggml_backend_dev_by_name(name);
    if (!dev) {
        fail(abi::ERROR_INVALID_ARGUMENT, "session_params.%s: there is no device '%s'; this build has %s", field, name, device_names().c_str());
    }
    given = true;
    cpu   = ggml_backend_dev_type(dev) == GGML_BACKEND_DEVICE_TYPE_CPU;
    if (!cpu) {
        list[0] = dev;
    }
}

void device_list::apply(llama_model_params & mp) {
    if (given) {
        mp.devices = list;
    }
    if (cpu) {
        mp.n_gpu_layers = 0;
    }
}

} // namespace spb
