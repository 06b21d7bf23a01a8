"""The devices that a build of ggml sees, asked of the library itself."""

from __future__ import annotations

import os
import platform
import subprocess
from typing import Any

from specbind.native.backends import Backend, present
from specbind.native.build import BuildResult, library_file

DECLARATIONS = (
    "typedef struct ggml_backend_device * ggml_backend_dev_t; ggml_backend_dev_t ggml_backend_dev_by_name(const char * name);"
    "const char * ggml_backend_dev_description(ggml_backend_dev_t device);"
)


def description(build: BuildResult, name: str) -> str:
    """What the driver calls the device `name`; empty if there is no such device."""
    from cffi import FFI

    ffi = FFI()
    ffi.cdef(DECLARATIONS)
    ggml: Any = ffi.dlopen(str(build.lib_dir / library_file("ggml")), os.RTLD_NOW)
    base: Any = ffi.dlopen(str(build.lib_dir / library_file("ggml-base")), os.RTLD_NOW)
    device = ggml.ggml_backend_dev_by_name(name.encode())
    if device == ffi.NULL:
        return ""
    said = ffi.string(base.ggml_backend_dev_description(device))
    return said.decode(errors="replace") if isinstance(said, bytes) else said


def driver(backend: Backend) -> str:
    """What the driver's own program says of its version, on one line; the system for the processor."""
    if not backend.driver:
        return f"{platform.system()} {platform.machine()}"
    if not present(backend.driver[0]):
        return "unknown"
    said = subprocess.run(backend.driver, capture_output=True, text=True, timeout=60, check=False).stdout.strip().splitlines()
    return next((line.strip() for line in said if "version" in line.lower()), said[0] if said else "unknown")
