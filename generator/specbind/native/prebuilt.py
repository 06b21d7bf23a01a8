"""Libraries that something else built, to be tested as if they were the shim's: a llama.cpp with the ABI inside."""

from __future__ import annotations

from pathlib import Path

from specbind.native.build import BuildResult, library_file
from specbind.native.errors import NativeError
from specbind.native.paths import checkout

ENV_DIR = "SPECBIND_LIBRARY_DIR"
STEM = "llama_speculative"


def prebuilt(folder: Path) -> BuildResult:
    """The libraries in `folder`, with the headers of llama.cpp in `include` beside it, as an installation has them.

    Raises NativeError.
    """
    folder = folder.expanduser().resolve()
    library = folder / library_file(STEM)
    include = folder.parent / "include"
    for path in (library, folder / library_file("llama"), include / "llama.h", include / "ggml.h"):
        if not path.is_file():
            raise NativeError(f"{ENV_DIR} is {folder}, and {path} is missing: see docs/proposal.md for how to make such a folder.")
    return BuildResult(library, folder, (include, checkout() / "native" / "include"), folder.parent, "prebuilt")
