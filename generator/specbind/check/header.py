"""The committed header as C compilers see it: its layout on this machine, its functions, and its own assertions on every target."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from specbind.check.view import View, read_rows
from specbind.diff.constants import VERSION
from specbind.diff.table import Table, of_spec
from specbind.emit.c.naming import CNaming
from specbind.layout.targets import TARGETS, Target
from specbind.native.tools import which
from specbind.spec import model as m

INSTALL = "no C compiler for this machine: apt install gcc"
INSTALL_CROSS = "no compiler for other targets: pip install ziglang, or apt install clang"


def header_view(spec: m.Spec, header: Path, target: Target) -> View:
    """Compile and run a program that prints what the header declares."""
    view = View("header", header.name)
    compiler = os.environ.get("CC") or next((str(path) for name in ("cc", "gcc", "clang") if (path := which(name))), None)
    if compiler is None:
        return replace(view, skipped=INSTALL)
    with tempfile.TemporaryDirectory(prefix="specbind-check-") as temporary:
        folder = Path(temporary)
        try:
            rows = printed(compiler, spec, header, folder)
            return replace(view, table=with_functions(read_rows(rows), spec, target, compiler, header, folder))
        except (CompilerError, ValueError) as error:
            return replace(view, failed=str(error))


class CompilerError(Exception):
    """What a compiler or a compiled program said."""


def printed(compiler: str, spec: m.Spec, header: Path, folder: Path) -> str:
    """Rows of structs, fields and constants. A row that does not compile is left out: the header does not have that item."""
    rows = statements(spec)
    source, program = folder / "rows.c", folder / "rows"
    for _ in range(2):
        source.write_text("\n".join([*opening(spec, header), "#include <stdio.h>", "int main(void) {", *rows, "return 0; }", ""]))
        done = subprocess.run([compiler, "-w", "-o", str(program), str(source)], capture_output=True, text=True, errors="replace")
        if done.returncode == 0:
            return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
        first = len(opening(spec, header)) + 3
        wrong = flagged(done.stderr, source)
        if not wrong:
            break
        rows = ["" if first + index in wrong else row for index, row in enumerate(rows)]
    raise CompilerError(f"{header} does not compile: {first_error(done.stderr)}")


def opening(spec: m.Spec, header: Path) -> list[str]:
    """The layout is what is asked for here, so that the header's own check must not end the compilation."""
    return [f"#define {CNaming(spec).macro('NO_LAYOUT_CHECKS')}", "#include <stddef.h>", f'#include "{header.resolve().as_posix()}"']


def statements(spec: m.Spec) -> list[str]:
    """C statements, each of which prints a row."""
    naming = CNaming(spec)
    lines = []
    for struct in spec.structs:
        c_name = naming.struct(struct.name)
        align = f"offsetof(struct {{ char c; {c_name} t; }}, t)"
        lines.append(f'printf("struct {struct.name} %zu %zu\\n", sizeof({c_name}), {align});')
        for field in struct.fields:
            place = f"offsetof({c_name}, {field.name}), sizeof((({c_name} *)0)->{field.name})"
            lines.append(f'printf("field {struct.name} {field.name} %zu %zu\\n", {place});')
    named = [("-", c.name, naming.constant(c)) for c in spec.constants if c.name not in VERSION]
    named += [(e.name, v.name, naming.enum_value(e, v)) for e in spec.enums for v in e.values]
    return lines + [f'printf("constant {owner} {name} %lld\\n", (long long) {c_name});' for owner, name, c_name in named]


def with_functions(
    table: Table, spec: m.Spec, target: Target, compiler: str, header: Path, folder: Path
) -> Table:
    """The table with those functions that the header declares, and another hash for those that it declares otherwise.

    C has no word for a declaration's type, but refuses to declare a name twice with two types.
    """
    prototypes = generated_prototypes(spec)
    names = [f.name for f in spec.functions]
    naming = CNaming(spec)
    known = [f"typedef char check_{name}[sizeof(&{naming.function(name)})];" for name in names]
    source = folder / "functions.c"
    head = opening(spec, header)
    source.write_text("\n".join([*head, *known, *(prototypes[naming.function(name)] for name in names), ""]))
    done = subprocess.run([compiler, "-w", "-fsyntax-only", str(source)], capture_output=True, text=True, errors="replace")
    wrong = flagged(done.stderr, source)
    if done.returncode and not wrong:
        raise CompilerError(f"{header} does not compile: {first_error(done.stderr)}")
    first = len(head) + 1
    declared = [name for index, name in enumerate(names) if first + index not in wrong]
    otherwise = {name for index, name in enumerate(names) if first + len(names) + index in wrong}
    hashes = of_spec(spec, target).signatures or {}
    signatures = {name: 0 if name in otherwise else hashes[name] for name in declared}
    return replace(table, functions=frozenset(declared), signatures=signatures)


def generated_prototypes(spec: m.Spec) -> dict[str, str]:
    """Declaration by C name, on one line, as the header that belongs to the spec has it."""
    from specbind.emit.core import backends

    text = next(text for path, text in backends()["c"].render(spec).items() if path.startswith("native/include/"))
    api = CNaming(spec).export_macro
    found = re.findall(rf"^\s*{api}\b([^;{{]*);", text, re.MULTILINE)
    return {name.group(1): " ".join(one.split()) + ";" for one in found if (name := re.search(r"(\w+)\s*\(", one))}


def flagged(said: str, source: Path) -> set[int]:
    """Lines of `source` in which a compiler found errors."""
    return {int(line) for line in re.findall(rf"^{re.escape(str(source))}:(\d+):\d+: error:", said, re.MULTILINE)}


def first_error(said: str) -> str:
    lines = said.strip().splitlines()
    return next((line for line in lines if "error" in line), lines[0] if lines else "the compiler gave no reason")


# --- every target ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Assertions:
    """What the header's own assertions said on one target; all well without `faults` and `skipped`."""

    target: str
    faults: tuple[str, ...] = ()
    skipped: str = ""


def assert_everywhere(spec: m.Spec, header: Path) -> list[Assertions]:
    """Compile the header for every target of the layout engine."""
    return [asserted(spec, header, target) for target in TARGETS.values()]


def asserted(spec: m.Spec, header: Path, target: Target) -> Assertions:
    compiler = cross_compiler(target)
    if compiler is None:
        return Assertions(target.name, skipped=INSTALL_CROSS)
    options = ["-std=c11", "-ffreestanding", "-fsyntax-only", "-ferror-limit=0", "-x", "c", str(header)]
    done = subprocess.run([*compiler, *options], capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        return Assertions(target.name)
    broken = re.findall(r"static assertion failed[^:]*: (.*)", done.stderr)
    prefix = re.escape(spec.prefix)
    faults = dict.fromkeys(item(text, prefix) for text in broken)
    return Assertions(target.name, tuple(faults) or (first_error(done.stderr),))


def item(condition: str, prefix: str) -> str:
    """`params.n_threads: …` of a condition such as `offsetof(p_params, n_threads) == 8`."""
    if place := re.search(rf"offsetof\({prefix}(\w+), (\w+)\) == (\d+)", condition):
        return f"{place[1]}.{place[2]} is not at offset {place[3]}"
    if size := re.search(rf"sizeof\({prefix}(\w+)\) == (\d+)", condition):
        return f"{size[1]} does not have {size[2]} bytes"
    return condition


def cross_compiler(target: Target) -> list[str] | None:
    """A compiler for any target: clang needs no more than its own headers for ours, zig brings it."""
    if clang := which("clang"):
        return [str(clang), f"--target={target.clang}"]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc", "-target", target.zig]
    return None
