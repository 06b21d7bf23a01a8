"""The series on a copy of the tree: applied with git, built and tested after each step, and the libraries laid out to be tested.

This is what proves the proposal. It takes minutes, so it is run by hand and not by the tests.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from specbind.native.build import LIBRARIES, compile_with, configure_llama, library_file, pick_backend
from specbind.native.errors import NativeError
from specbind.native.paths import checkout
from specbind.native.prebuilt import STEM
from specbind.native.progress import Progress
from specbind.native.run import run
from specbind.native.source import Tree
from specbind.native.tools import Tools, find_tools, which
from specbind.propose.steps import Step

# Beyond the options of the backend: what the steps' own tests and the example need.
OPTIONS = {"LLAMA_BUILD_COMMON": "ON", "LLAMA_BUILD_TESTS": "ON", "LLAMA_BUILD_EXAMPLES": "ON", "LLAMA_BUILD_MTMD": "ON",
           "LLAMA_BUILD_SPECULATIVE": "ON", "LLAMA_OPENSSL": "OFF"}  # fmt: skip
HEADERS = ("include", "ggml/include", "tools/speculative")


def attempt(
    tree: Tree, plan: Sequence[Step], patches: Sequence[Path], folder: Path, jobs: int | None, progress: Progress
) -> list[Path]:
    """Try the series in `folder` and return the folders of the libraries that have the ABI.

    Raises NativeError with the step that failed.
    """
    git = which("git")
    if git is None:
        raise NativeError("git is missing, and applying the series needs it. Debian and Ubuntu: `apt install git`.")
    tools = find_tools()
    folder = folder.expanduser().resolve()
    copy, build, log = folder / "tree", folder / "build", folder / "try.log"
    folder.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    with progress.phase("Copying the tree"):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(tree.path, copy, ignore=shutil.ignore_patterns(".git"), symlinks=True)
    laid_out: dict[str, Path] = {}
    for i, (step, patch) in enumerate(zip(plan, patches, strict=True), 1):
        title = f"Step {i}, {step.subject}"
        # the ceiling keeps git from taking the copy for a part of a repository around it
        env = {"GIT_CEILING_DIRECTORIES": str(folder)}
        run([git, "-C", copy, "apply", "--whitespace=error-all", patch.resolve()], what=f"{title}: git apply", log=log, env=env)
        configure(tools, copy, build, tree.commit, step.options, log, progress, title)
        compile_with(tools, build, jobs, f"{title}: building", log, progress, step.targets)
        for program in step.runs:
            run([build / "bin" / program], what=f"{title}: {program}", log=log)
            progress.note(f"{title}: {program} passed")
        if step.library:
            laid_out[step.library] = lay_out(copy, build, folder / step.library, step.library)
    return list(laid_out.values())


def configure(
    tools: Tools, copy: Path, build: Path, commit: str, more: Sequence[str], log: Path, progress: Progress, title: str
) -> None:
    backend = pick_backend(checkout(), "cpu")
    options = [*(f"{name}={value}" for name, value in {**backend.options, **OPTIONS}.items()), *more]
    with progress.phase(f"{title}: configuring"):
        run(configure_llama(tools, copy, build, commit, [f"-D{option}" for option in options]), what=f"{title}: configuring", log=log)


def lay_out(copy: Path, build: Path, folder: Path, library: str) -> Path:
    """Libraries and headers as an installation has them; `library` also under the name that the bindings look for."""
    shutil.rmtree(folder, ignore_errors=True)
    lib, include = folder / "lib", folder / "include"
    for path in (lib, include):
        path.mkdir(parents=True)
    for path in sorted((build / "bin").glob(LIBRARIES)):
        if re.match(rf"(lib)?(ggml|llama\b(?!-)|{library}\b(?!-))", path.name):
            shutil.copy2(path, lib / path.name, follow_symlinks=False)
    (lib / library_file(STEM)).symlink_to(library_file(library))
    for name in HEADERS:
        for header in sorted((copy / name).glob("*.h")):
            if not header.name.endswith("-impl.h"):
                shutil.copy2(header, include)
    return lib
