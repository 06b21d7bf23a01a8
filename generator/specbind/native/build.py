"""Building libllama and ggml once per tree and options, and the shim once per checkout, incrementally."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from specbind.native.backends import Backend, all_backends, no_such_backend
from specbind.native.errors import NativeError
from specbind.native.lock import locked
from specbind.native.paths import cache_dir, checkout, digest
from specbind.native.pin import load_pin
from specbind.native.progress import Progress, Silent
from specbind.native.run import ninja_progress, run
from specbind.native.source import Tree, pinned_tree, user_tree
from specbind.native.tools import Tools, find_tools

ENV_LIBRARY = "LLAMA_SPECULATIVE_LIB"
LIBRARIES = "*.dll" if os.name == "nt" else "lib*"  # every shared library of a build, links too
NAMES = {"nt": "{}.dll", "posix": "lib{}.so", "darwin": "lib{}.dylib"}


@dataclass(frozen=True)
class BuildResult:
    """`library` is the shim; libllama and libggml lie beside it in `lib_dir`."""

    library: Path
    lib_dir: Path
    include_dirs: tuple[Path, ...]  # llama.h, ggml.h and the shim's header
    llama_dir: Path
    backend: str


def build(
    *,
    llama: Path | None = None,
    backend: str = "cpu",
    build_dir: Path | None = None,
    jobs: int | None = None,
    sanitize: str = "",
    generated: Path | None = None,
    library: str = "llama_speculative",
    latest: bool = True,
    progress: Progress | None = None,
) -> BuildResult:
    """Build llama.cpp and the shim as far as they are not built yet.

    `llama` is a tree of the user's instead of the pinned one. `build_dir` holds the shim's build instead of the cache.
    `sanitize` is what -fsanitize= takes. `generated` is a folder with `include` and `generated` from another spec, and
    `library` the name that it gives the library. `latest` makes it what `find_library` finds. Raises NativeError.
    """
    progress = progress or Silent()
    root, cache = checkout(), cache_dir()
    tools = find_tools()
    tree = user_tree(llama) if llama else pinned_tree(load_pin(root / "abi" / "llama_cpp.yaml"), cache, progress)
    chosen = pick_backend(root, backend)
    libraries = build_llama(tree, chosen, tools, cache, jobs, progress)

    generated = generated or root / "native"
    key = digest(str(root), str(generated), str(libraries), sanitize)
    folder = build_dir.expanduser().resolve() if build_dir else cache / "shim" / key
    with locked(folder, progress):
        path = build_shim(tree, libraries, folder, generated, library, sanitize, tools, root, jobs, progress, chosen.leave_out)
    result = BuildResult(path, path.parent, (*tree.include_dirs, generated / "include"), tree.path, backend)
    if latest and not sanitize and generated == root / "native":
        remember(result, root, cache)
    return result


def pick_backend(root: Path, name: str) -> Backend:
    backends = all_backends(root)
    if name not in backends:
        raise no_such_backend(name, backends)
    if missing := backends[name].missing():
        raise NativeError(f"--backend {name}: {', '.join(missing)} is missing here. To install it: {backends[name].remedy}.")
    return backends[name]


def build_llama(tree: Tree, backend: Backend, tools: Tools, cache: Path, jobs: int | None, progress: Progress) -> Path:
    """Folder of libllama and libggml. A pinned tree that was built completely is not looked at again."""
    options = [f"-D{name}={value}" for name, value in backend.options.items()]
    folder = cache / "llama" / f"{backend.name}-{digest(tree.key, *options, tools.cxx_version)}"
    done = folder / "complete"
    if tree.pinned and done.is_file():
        return folder / "bin"
    with locked(folder, progress):
        log = folder.with_name(folder.name + ".log")
        log.unlink(missing_ok=True)
        done.unlink(missing_ok=True)
        with progress.phase(f"Configuring llama.cpp {tree.commit}, {backend.title}"):
            run(configure_llama(tools, tree.path, folder, tree.commit, options), what="Configuring llama.cpp", log=log)
        compile_with(tools, folder, jobs, "Building llama.cpp", log, progress)
        done.touch()
    return folder / "bin"


def configure_llama(tools: Tools, source: Path, folder: Path, commit: str, options: Sequence[str]) -> list[str | Path]:
    """CMake's command for llama.cpp. $ORIGIN instead of `folder`: the libraries are copied elsewhere."""
    fixed = ["-DCMAKE_BUILD_RPATH_USE_ORIGIN=ON", f"-DLLAMA_BUILD_COMMIT={commit}"]
    return [tools.cmake, "-S", source, "-B", folder, *tools.configure_args, *options, *fixed]


def build_shim(
    tree: Tree, libraries: Path, folder: Path, generated: Path, library: str, sanitize: str, tools: Tools, root: Path,
    jobs: int | None, progress: Progress, leave_out: tuple[str, ...] = (),
) -> Path:  # fmt: skip
    """The shim in `folder`/bin, with the libraries that it needs beside it, but those of `leave_out`."""
    log = folder.with_name(folder.name + ".log")
    log.unlink(missing_ok=True)
    with progress.phase("Configuring the shim"):
        run(
            [tools.cmake, "-S", root / "native", "-B", folder, *tools.configure_args, f"-DLLAMA_DIR={tree.path}",
             f"-DLLAMA_LIB_DIR={libraries}", f"-DLLAMA_COMMIT={tree.commit}", f"-DSPECBIND_GENERATED_DIR={generated}",
             f"-DSPECBIND_SANITIZE={sanitize}", "-DCMAKE_BUILD_TYPE=Release"],
            what="Configuring the shim", log=log,
        )  # fmt: skip
    compile_with(tools, folder, jobs, "Building the shim", log, progress)
    copy_libraries(libraries, folder / "bin", leave_out)
    return folder / "bin" / library_file(library)


def compile_with(
    tools: Tools, folder: Path, jobs: int | None, title: str, log: Path, progress: Progress, targets: Sequence[str] = ()
) -> None:
    """Build a configured folder, or only some of its targets."""
    with progress.phase(title) as advance:
        command: list[str | Path] = [tools.cmake, "--build", folder, "--config", "Release"]
        if targets:
            command += ["--target", *targets]
        if jobs:
            command += ["--parallel", str(jobs)]
        run(command, what=title, log=log, on_line=ninja_progress(advance))


def copy_libraries(source: Path, target: Path, leave_out: tuple[str, ...] = ()) -> None:
    """Bring libllama and libggml beside the shim; links stay links, and what is there already is left alone."""
    for path in sorted(source.glob(LIBRARIES)):
        if any(name in path.name for name in leave_out):
            continue
        copy = target / path.name
        if path.is_symlink():
            if not copy.is_symlink():
                copy.symlink_to(path.readlink())
        elif not copy.exists() or copy.stat().st_mtime < path.stat().st_mtime:
            temporary = copy.with_name(f".{copy.name}.new")
            shutil.copy2(path, temporary)
            os.replace(temporary, copy)


def library_file(name: str) -> str:
    import sys

    return NAMES["darwin" if sys.platform == "darwin" else os.name].format(name)


def remember(result: BuildResult, root: Path, cache: Path) -> None:
    """Note the latest build of this checkout, for `find_library`."""
    path = latest_file(root, cache)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps({"library": str(result.library)}), encoding="utf-8")
    os.replace(temporary, path)


def latest_file(root: Path, cache: Path) -> Path:
    return cache / "shim" / f"latest-{digest(str(root))}.json"


def find_library() -> Path:
    """The shim to use: LLAMA_SPECULATIVE_LIB, or the latest build of this checkout. Raises NativeError."""
    given = os.environ.get(ENV_LIBRARY)
    if given:
        path = Path(given).expanduser()
        if not path.is_file():
            raise NativeError(f"{ENV_LIBRARY} is {given}, and there is no such file: set it to the path of the built library.")
        return path
    latest = latest_file(checkout(), cache_dir())
    if latest.is_file():
        path = Path(json.loads(latest.read_text(encoding="utf-8"))["library"])
        if path.is_file():
            return path
    raise NativeError(f"The library is not built yet: run `specbind build`, or set {ENV_LIBRARY} to one that is.")
