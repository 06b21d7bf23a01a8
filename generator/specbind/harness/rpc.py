"""Servers of ggml's RPC backend on this machine, started and stopped by the tests."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from specbind.native.build import BuildResult, library_file
from specbind.native.errors import NativeError
from specbind.native.paths import checkout
from specbind.native.tools import find_tools

PATIENCE = 30.0  # seconds until a server must listen


def compile_server(build: BuildResult, folder: Path) -> Path:
    """native/tests/rpc_server.cpp against a build of the rpc backend."""
    program = folder / "rpc_server"
    includes = [f"-I{directory}" for directory in build.include_dirs]
    command = [
        find_tools().cxx, "-std=c++17", "-O1", *includes, checkout() / "native" / "tests" / "rpc_server.cpp", "-o", program,
        f"-L{build.lib_dir}", "-lggml", "-lggml-base", "-lggml-rpc", f"-Wl,-rpath,{build.lib_dir}",
    ]  # fmt: skip
    ran = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if ran.returncode:
        raise NativeError(f"The RPC server does not compile: {ran.stderr.strip()[-1000:]}")
    return program


class Server:
    """A running server. `endpoint` is host:port."""

    def __init__(self, program: Path) -> None:
        self.endpoint = f"127.0.0.1:{free_port()}"
        self.process = subprocess.Popen([program, self.endpoint], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.wait()

    def wait(self) -> None:
        """Until it listens. Raises NativeError when it ends or takes too long."""
        end = time.monotonic() + PATIENCE
        host, port = self.endpoint.split(":")
        while time.monotonic() < end:
            if self.process.poll() is not None:
                said = self.process.stderr.read() if self.process.stderr else ""
                raise NativeError(f"The RPC server ended with {self.process.returncode}: {said.strip()[-500:]}")
            try:
                socket.create_connection((host, int(port)), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.stop()
        raise NativeError(f"The RPC server did not listen on {self.endpoint} within {PATIENCE:.0f} s.")

    def stop(self) -> None:
        """Kill it. Clients notice when they next speak to it."""
        self.process.kill()
        self.process.wait()
        if self.process.stderr:
            self.process.stderr.close()


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def servers(build: BuildResult, n: int, folder: Path) -> Iterator[list[Server]]:
    """`n` servers, stopped at the end whatever happens."""
    program = compile_server(build, folder)
    with ExitStack() as stack:
        started = []
        for _ in range(n):
            server = Server(program)
            stack.callback(server.stop)
            started.append(server)
        yield started


def register(build: BuildResult, endpoints: list[str]) -> None:
    """Make the servers' devices known in this process: what a program does through ggml before it opens a session."""
    from cffi import FFI

    ffi = FFI()
    ffi.cdef(
        "typedef struct ggml_backend_reg * ggml_backend_reg_t; ggml_backend_reg_t ggml_backend_rpc_add_server(const char * endpoint);"
        "void ggml_backend_register(ggml_backend_reg_t reg); const char * ggml_backend_reg_name(ggml_backend_reg_t reg);"
    )
    rpc = ffi.dlopen(str(build.lib_dir / library_file("ggml-rpc")), os.RTLD_NOW)
    ggml = ffi.dlopen(str(build.lib_dir / library_file("ggml")), os.RTLD_NOW)
    for endpoint in endpoints:
        added = rpc.ggml_backend_rpc_add_server(endpoint.encode())  # type: ignore[attr-defined]
        if added == ffi.NULL:
            raise NativeError(f"ggml could not reach the RPC server {endpoint}.")
        ggml.ggml_backend_register(added)  # type: ignore[attr-defined]
