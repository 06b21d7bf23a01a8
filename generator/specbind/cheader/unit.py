"""A header parsed by libclang, with the values of its macros.

Macros are text to a compiler, so the header is read through a file of ours that includes it and then uses each macro as
the operand of `__typeof__` and as the value of an enum constant. What is no expression does not compile there, and is no
number; errors in the header itself are the user's to mend.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from specbind.cheader.errors import HeaderError

PROBE = "specbind-macros.c"
TYPE, VALUE = "specbind_type_", "specbind_value_"
SHOWN = 10  # of clang's errors

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)[ \t]+(\S(?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)


class Macro(NamedTuple):
    """An object-like macro: where it is defined, and its text."""

    name: str
    file: str
    line: int
    column: int
    text: str


class Unit(NamedTuple):
    """A parsed header. `own` maps the names under which clang knows the library's own files to those of the user.

    `macros` are those that are expressions of C; `TYPE` and `VALUE` begin the names of what the probe declares for each.
    """

    path: Path
    cursor: Any
    own: dict[str, str]
    macros: dict[str, Macro]


def parse(path: Path, include: Sequence[Path]) -> Unit:
    """Parse a header, or HeaderError with what clang says of it."""
    cindex = libclang()
    files = own_files(path)
    macros = {macro.name: macro for file, text in files.items() for macro in defined(shown(path, file), text)}
    arguments = ["-x", "c", "-std=gnu11", "-fparse-all-comments", "-ferror-limit=0", "-w"]
    arguments += [f"-I{folder}" for folder in include]
    arguments += ["-isystem", folder] if (folder := builtin_headers()) else []
    # what a header leaves open ends in line 2; then two lines for each macro, so that an error's line tells which it is
    lines = [f'#include "{path.resolve()}"', "typedef int specbind_end;"]
    for name in macros:
        lines += [f"extern __typeof__({name}) {TYPE}{name};", f"enum {{ {VALUE}{name} = ({name}) }};"]
    unit = cindex.Index.create().parse(PROBE, arguments, unsaved_files=[(PROBE, "\n".join(lines) + "\n")])
    errors = [each for each in unit.diagnostics if each.severity >= cindex.Diagnostic.Error]
    mistakes = [each for each in errors if place(each)[0] != PROBE or place(each)[1] <= 2]
    if mistakes:
        raise HeaderError(unreadable(path, mistakes))
    wrong = {place(each)[1] for each in errors}
    expressions = {name: macro for number, (name, macro) in enumerate(macros.items()) if 2 * number + 3 not in wrong}
    return Unit(path, unit.cursor, {str(file): shown(path, file) for file in files}, expressions)


def libclang() -> Any:
    """The module `clang.cindex` with its library."""
    advice = "C headers are read with libclang, which is missing: `pip install 'specbind[import]'`."
    try:
        from clang import cindex
    except ImportError:
        raise HeaderError(advice) from None
    try:
        cindex.conf.lib  # noqa: B018  loads the shared library
    except cindex.LibclangError as error:
        raise HeaderError(f"{advice} ({str(error).splitlines()[0]})") from None
    return cindex


def own_files(path: Path) -> dict[Path, str]:
    """The header and the files that it includes from its own folder, with their texts."""
    root = path.resolve()
    found: dict[Path, str] = {}
    waiting = [root]
    while waiting:
        file = waiting.pop(0)
        if file in found:
            continue
        found[file] = text = read(path if file == root else file)
        included = ((file.parent / name).resolve() for name in INCLUDE.findall(text))
        waiting += [each for each in included if each.is_file() and each.is_relative_to(root.parent)]
    return found


def read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise HeaderError(f"{path}: {error.strerror or error}. Give a C header.") from None


def shown(path: Path, file: Path) -> str:
    """A file of the library as the user would write it, beside the header that was given."""
    root = path.resolve().parent
    return str(path if file == path.resolve() else path.parent / file.relative_to(root))


def defined(file: str, text: str) -> Iterator[Macro]:
    """Macros that stand for something, in the order of the file."""
    bare = COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for match in DEFINE.finditer(bare):
        if match[2].strip():
            line = bare.count("\n", 0, match.start(1)) + 1
            column = match.start(1) - bare.rfind("\n", 0, match.start(1))
            yield Macro(match[1], file, line, column, match[2].strip())


def builtin_headers() -> str | None:
    """The folder of a C compiler's own headers (`stddef.h`), which libclang's packages leave out; None without a compiler."""
    for compiler, option in (("clang", "-print-file-name=include"), ("cc", "-print-file-name=include")):
        if shutil.which(compiler):
            done = subprocess.run([compiler, option], capture_output=True, text=True)
            folder = Path(done.stdout.strip())
            if done.returncode == 0 and (folder / "stddef.h").is_file():
                return str(folder)
    return None


def place(diagnostic: Any) -> tuple[str, int, int]:
    at = diagnostic.location
    return (at.file.name if at.file else "", at.line, at.column)


def unreadable(path: Path, mistakes: list[Any]) -> str:
    """Clang's errors, and what may help."""
    lines = [f"{path}: clang cannot read it:"]
    for each in mistakes[:SHOWN]:
        file, line, column = place(each)
        where = f"{path}: at its end" if file in (PROBE, "") else f"{file}:{line}:{column}"
        lines.append(f"  {where}: {each.spelling}")
    if len(mistakes) > SHOWN:
        lines.append(f"  and {len(mistakes) - SHOWN} more")
    missing = [match[1] for each in mistakes if (match := re.match(r"'(.+)' file not found", each.spelling))]
    if missing and builtin_headers() is None:
        lines.append("A C compiler brings the standard headers: Debian and Ubuntu: `apt install gcc libc6-dev`.")
    elif missing:
        lines.append(f"Name the folder that holds {missing[0]} with -I.")
    return "\n".join(lines)
