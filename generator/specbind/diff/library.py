"""A built library as a side: its own table, read in a child process, and the names that it really exports."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from specbind.diff.errors import DiffError
from specbind.diff.table import Table
from specbind.layout.targets import TARGETS, Target, host

# kinds of rows, as in the enum identity_kind
STRUCT, FIELD, CONSTANT, FUNCTION = 1, 2, 3, 4
LINKER = frozenset({"_init", "_fini", "_edata", "_end", "__bss_start"})  # every shared object has some of them


class Library(NamedTuple):
    table: Table
    version: str
    abi_hash: str


def host_target() -> Target:
    """The target of this process, which is that of every library that it can load."""
    target = host()
    if target is None:
        raise DiffError(f"the layout engine does not know this machine. There are: {', '.join(TARGETS)}.")
    return target


def read_library(path: Path) -> Library:
    """What a library says of itself and exports."""
    symbols = exported(path)
    prefixes = [name.removesuffix("identity_get") for name in symbols if name.endswith("identity_get")]
    if len(prefixes) != 1:
        raise DiffError(f"{path} exports no `…identity_get`, so it is not a library that specbind's spec describes.")
    prefix = prefixes[0]
    said = ask(path, prefix)
    rows = said["rows"]
    table = Table(
        structs={item: (size, offset) for kind, offset, size, _, _, _, item in rows if kind == STRUCT},
        fields={(owner, item): (offset, size) for kind, offset, size, _, _, owner, item in rows if kind == FIELD},
        constants={(owner, item): value for kind, _, _, value, _, owner, item in rows if kind == CONSTANT},
        functions=frozenset(item for kind, *_, item in rows if kind == FUNCTION),
        signatures={item: number for kind, _, _, _, number, _, item in rows if kind == FUNCTION},
        exports=frozenset(name.removeprefix(prefix) for name in symbols),
    )
    return Library(table, said["version"], said["hash"])


def ask(path: Path, prefix: str) -> Any:
    """Run the probe on a library."""
    command = [sys.executable, "-m", "specbind.diff.probe", str(path.resolve()), prefix]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        said = done.stderr.strip().splitlines()
        reason = said[-1] if said else f"the process that loaded it ended with {done.returncode}"
        raise DiffError(f"{path} cannot be asked for its table: {reason}")
    return json.loads(done.stdout)


def exported(path: Path) -> frozenset[str]:
    """Names of the functions and data that a library offers to others."""
    nm = shutil.which("nm") or shutil.which("llvm-nm")
    if nm is None:
        raise DiffError("nm is missing, which lists the symbols of a library. Debian and Ubuntu: `apt install binutils`.")
    option = "-gU" if sys.platform == "darwin" else "-D"
    command = [nm, option, *(["--defined-only"] if option == "-D" else []), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise DiffError(f"{path} is not a shared library: {(done.stderr.strip() or 'nm failed').splitlines()[0]}")
    rows = (line.split() for line in done.stdout.splitlines())
    # A is an absolute symbol: the name of a symbol version
    names = (re.sub(r"@.*", "", row[-1]) for row in rows if len(row) >= 2 and row[-2] != "A")
    return frozenset(name.removeprefix("_") if sys.platform == "darwin" else name for name in names) - LINKER
