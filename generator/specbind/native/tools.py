"""The programs that a build needs, found beside this Python first: cmake and ninja come with the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from specbind.native.errors import NativeError

CXX_NAMES = ("c++", "g++", "clang++")
C_NAMES = ("cc", "gcc", "clang")


def search_path() -> str:
    """PATH with the scripts of this Python in front, which count although the environment is not activated."""
    return os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])


def which(name: str) -> Path | None:
    found = shutil.which(name, path=search_path())
    return Path(found) if found else None


@dataclass(frozen=True)
class Tools:
    """What configures, runs and speeds up a build."""

    cmake: Path
    ninja: Path
    launcher: Path | None  # ccache or sccache
    cc: str  # empty on Windows: CMake finds the compiler of the developer prompt
    cxx: str
    cxx_version: str  # first line of what it says of itself

    @property
    def configure_args(self) -> list[str]:
        return ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={self.ninja}", *self.compiler_args]

    @property
    def compiler_args(self) -> list[str]:
        args: list[str] = []
        if self.cxx:
            args += [f"-DCMAKE_C_COMPILER={self.cc}", f"-DCMAKE_CXX_COMPILER={self.cxx}"]
        if self.launcher:
            args += [f"-DCMAKE_{language}_COMPILER_LAUNCHER={self.launcher}" for language in ("C", "CXX")]
        return args


def find_tools() -> Tools:
    """All of them, or a message that names the first one missing and how to get it."""
    cc, cxx = compiler("CC", C_NAMES, "C"), compiler("CXX", CXX_NAMES, "C++")
    return Tools(
        cmake=program("cmake"),
        ninja=program("ninja"),
        launcher=which("ccache") or which("sccache"),
        cc=cc,
        cxx=cxx,
        cxx_version=first_line(cxx) if cxx else os.environ.get("VCToolsVersion", ""),
    )


def program(name: str) -> Path:
    found = which(name)
    if found is None:
        raise NativeError(f"{name} is missing. It comes with specbind's dependencies: `pip install {name}`.")
    return found


def compiler(variable: str, names: tuple[str, ...], language: str) -> str:
    """The compiler that `variable` or the PATH gives."""
    given = os.environ.get(variable)
    if given:
        found = which(given)
        if found is None:
            raise NativeError(f"{variable} is set to `{given}`, and there is no such program: set it to a {language} compiler.")
        return str(found)
    if os.name == "nt":
        return ""
    for name in names:
        if found := which(name):
            return str(found)
    raise NativeError(
        f"No {language} compiler found (looked for {', '.join(names)}; the variable {variable} names another). "
        "Debian and Ubuntu: `apt install g++`. Fedora: `dnf install gcc-c++`. macOS: `xcode-select --install`."
    )


def first_line(command: str) -> str:
    """What a compiler says of itself."""
    try:
        result = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NativeError(f"The compiler {command} does not run: {error}") from None
    return result.stdout.partition("\n")[0].strip()
