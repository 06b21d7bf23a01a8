"""Data models of the platforms that the ABI must look the same on.

Everything that decides the layout of our structs is in this table: the width of a pointer and the alignment of the
two 64-bit types. The other types are as wide as their name says, and aligned to that, on every platform here.
"""

from __future__ import annotations

import sys
from typing import NamedTuple


class Target(NamedTuple):
    """One platform. Sizes and alignments are in bytes; the triples are what the two compilers call it."""

    name: str
    title: str
    pointer: int  # size and alignment of a pointer and of size_t
    align_i64: int
    align_f64: int
    clang: str
    zig: str


TARGETS: dict[str, Target] = {
    t.name: t
    for t in (
        Target("x86_64-linux", "Linux on x86-64", 8, 8, 8, "x86_64-unknown-linux-gnu", "x86_64-linux-gnu"),
        Target("aarch64-linux", "Linux on arm64", 8, 8, 8, "aarch64-unknown-linux-gnu", "aarch64-linux-gnu"),
        Target("x86_64-macos", "macOS on x86-64", 8, 8, 8, "x86_64-apple-macosx11", "x86_64-macos-none"),
        Target("aarch64-macos", "macOS on arm64", 8, 8, 8, "arm64-apple-macosx11", "aarch64-macos-none"),
        Target("x86_64-windows", "Windows on x86-64", 8, 8, 8, "x86_64-pc-windows-msvc", "x86_64-windows-gnu"),
        Target("aarch64-windows", "Windows on arm64", 8, 8, 8, "aarch64-pc-windows-msvc", "aarch64-windows-gnu"),
        Target("i686-linux", "Linux on i686", 4, 4, 4, "i686-unknown-linux-gnu", "x86-linux-gnu"),
        Target("i686-windows", "Windows on i686", 4, 8, 8, "i686-pc-windows-msvc", "x86-windows-gnu"),
        Target("armv7-linux", "Linux on armv7", 4, 8, 8, "armv7-unknown-linux-gnueabihf", "arm-linux-gnueabihf"),
        Target("wasm32", "WebAssembly, 32 bits", 4, 8, 8, "wasm32-unknown-unknown", "wasm32-freestanding-none"),
    )
}


def host() -> Target | None:
    """The target of this process, which is that of every library that it can load; None if it is not in the table."""
    import platform

    systems = {"linux": "linux", "darwin": "macos", "win32": "windows"}
    machines = {"amd64": "x86_64", "arm64": "aarch64", "armv7l": "armv7", "i386": "i686"}
    machine = platform.machine().lower()
    name = f"{machines.get(machine, machine)}-{systems.get(sys.platform, sys.platform)}"
    return TARGETS.get(name.replace("x86_64", "i686") if sys.maxsize < 2**32 else name)
