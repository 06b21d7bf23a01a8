// A server of ggml's RPC backend with one processor device, for tests on one machine.
//
//   rpc_server HOST:PORT
#include "ggml-backend.h"
#include "ggml-rpc.h"

#include <cstdio>

int main(int argc, char ** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: rpc_server HOST:PORT\n");
        return 2;
    }
    ggml_backend_load_all();
    ggml_backend_dev_t device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    if (!device) {
        std::fprintf(stderr, "rpc_server: there is no processor device\n");
        return 1;
    }
    ggml_backend_rpc_start_server(argv[1], nullptr, 1, 1, &device);
    return 1; // it does not return unless it cannot listen
}
