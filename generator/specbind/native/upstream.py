"""llama.cpp's own speculative loop, its example program, built to be measured against."""

from __future__ import annotations

from pathlib import Path

from specbind.native.build import pick_backend
from specbind.native.errors import NativeError
from specbind.native.lock import locked
from specbind.native.paths import cache_dir, checkout, digest
from specbind.native.pin import load_pin
from specbind.native.progress import Progress, Silent
from specbind.native.run import make_progress, run
from specbind.native.source import Tree, pinned_tree
from specbind.native.tools import find_tools, which

TARGET = "llama-speculative-simple"


def upstream_loop(progress: Progress | None = None, *, tree: Tree | None = None, backend: str = "cpu") -> Path:
    """The example program, built from the pinned tree or `tree` with the options of `backend`. Takes some minutes, once.

    Raises NativeError.
    """
    progress = progress or Silent()
    root, cache, tools = checkout(), cache_dir(), find_tools()
    tree = tree or pinned_tree(load_pin(root / "abi" / "llama_cpp.yaml"), cache, progress)
    chosen = pick_backend(root, backend)
    make = which("make")
    if make is None:
        raise NativeError("make is missing, and llama.cpp's examples need it. Debian and Ubuntu: `apt install make`.")
    wanted = {**chosen.options, "LLAMA_BUILD_COMMON": "ON", "LLAMA_BUILD_EXAMPLES": "ON", "LLAMA_OPENSSL": "OFF"}
    options = [f"-D{name}={value}" for name, value in wanted.items()]
    folder = cache / "llama" / f"loop-{chosen.name}-{digest(tree.key, *options, tools.cxx_version)}"
    program = folder / "bin" / TARGET
    if tree.pinned and (folder / "complete").is_file():
        return program
    with locked(folder, progress):
        log = folder.with_name(folder.name + ".log")
        log.unlink(missing_ok=True)
        with progress.phase(f"Configuring llama.cpp's own loop, {tree.commit}"):
            # the Ninja files that examples get are out of date as soon as they are written, so they are built with make
            run(
                [tools.cmake, "-S", tree.path, "-B", folder, "-G", "Unix Makefiles", f"-DCMAKE_MAKE_PROGRAM={make}",
                 *tools.compiler_args, *options, f"-DLLAMA_BUILD_COMMIT={tree.commit}"],
                what="Configuring llama.cpp", log=log,
            )  # fmt: skip
        with progress.phase("Building llama.cpp's own loop") as advance:
            run(
                [tools.cmake, "--build", folder, "--target", TARGET, "--parallel"],
                what="Building llama.cpp's own loop", log=log, on_line=make_progress(advance),
            )  # fmt: skip
        (folder / "complete").touch()
    return program
