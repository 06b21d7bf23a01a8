"""What can stand on either side of a comparison, and how two of different kinds are made comparable.

A spec and a baseline know everything. A header knows C declarations, so what is compared with one is turned into a
header first. A library knows places, numbers and hashes, so what is compared with one is turned into such a table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from specbind.cheader import IMPORTED
from specbind.diff.errors import DiffError
from specbind.diff.finding import Finding, Side
from specbind.spec import model as m
from specbind.spec.source import Source, make_source, open_source

YAML = frozenset({".yaml", ".yml", ".json"})  # JSON is YAML too
HEADERS = frozenset({".h", ".hh", ".hpp"})
LIBRARY = re.compile(r".*\.(so(\.[0-9]+)*|dylib|dll)")
VERSION = re.compile(r"\d+\.\d+\.\d+")
BASELINE = re.compile(r"^baseline:", re.MULTILINE)

WAYS = (
    "a spec or baseline (.yaml), a C header (.h) or what `specbind import` made of one, a shared library (.so, .dylib, .dll), "
    "a released version (1.2.0), or git:REF:PATH"
)


@dataclass(frozen=True)
class Abi:
    """One side: what is known of it, which `kind` decides, and what to call it.

    `read_from` is the file that its places name, if that is none of the reader's.
    """

    side: Side
    kind: str  # spec | baseline | header | library
    spec: m.Spec | None = None
    library: Path | None = None
    read_from: str = ""


@dataclass(frozen=True)
class Reading:
    """How headers are read: folders for `#include`, and the prefix to take off names; None finds it."""

    includes: tuple[Path, ...] = ()
    prefix: str | None = None


def open_side(given: str, reading: Reading, baselines: Path) -> Abi:
    """Find out what `given` is and read it. Raises DiffError, or SpecError for mistakes in a spec."""
    if given.startswith("git:"):
        return from_git(given, reading)
    path = Path(given)
    if VERSION.fullmatch(given) and not path.exists():
        path = baselines / f"{given}.yaml"
        if not path.is_file():
            known = ", ".join(sorted(each.stem for each in baselines.glob("*.yaml"))) or "none yet"
            raise DiffError(f"there is no release {given}. Releases in {baselines}: {known}.")
    if not path.exists():
        raise DiffError(f"{given}: there is no such file. A side is {WAYS}.")
    if LIBRARY.fullmatch(path.name):
        from specbind.diff.library import read_library

        library = read_library(path)
        return Abi(Side(given, library.version, library.abi_hash), "library", library=path)
    if path.suffix in HEADERS:
        from specbind.diff.headers import read_header

        spec = read_header(path, reading.includes, reading.prefix)
        return Abi(Side(given, spec.version, ""), "header", spec)
    if path.suffix in YAML:
        return recalled(source_of(path), given)
    raise DiffError(f"{given}: not a kind of file that can be compared. A side is {WAYS}.")


def source_of(path: Path) -> Source:
    source, found = open_source(path)
    if found:
        from specbind.spec.diagnostics import SpecError

        raise SpecError(found)
    return source


def recalled(source: Source, label: str) -> Abi:
    """`from_yaml`, quickly if the same text was read before."""
    from specbind.diff.remembered import remembered

    return remembered(source, label, lambda: from_yaml(source, label))


def from_yaml(source: Source, label: str) -> Abi:
    """A spec, a baseline, or a header that `specbind import` wrote down."""
    if IMPORTED.search(source.text):
        from specbind.cheader.document import load_text

        spec = load_text(source.text, source.file)
        return Abi(Side(label, spec.version, ""), "header", spec)
    if BASELINE.search(source.text):
        from specbind.diff.baseline import load

        spec, abi_hash = load(source)
        return Abi(Side(label, spec.version, abi_hash), "baseline", spec)
    from specbind.layout.signature import spec_hash

    spec = read_spec(source)
    return Abi(Side(label, spec.version, spec_hash(spec)), "spec", spec)


def read_spec(source: Source) -> m.Spec:
    """A spec whose structure and references hold.

    The other rules are those of `specbind lint`: an old spec that a younger rule refuses must still be comparable.
    """
    from specbind.spec.build import build
    from specbind.spec.source import Map, read
    from specbind.spec.structure import check_structure

    root, found = read(source)
    shape = check_structure(source, root)
    if not found and not shape.found and isinstance(root, Map):
        spec = build(root, source, set()).spec
        if is_linked(spec):
            return spec
    from specbind.spec.diagnostics import SpecError
    from specbind.spec.load import check_source

    raise SpecError(check_source(source)[1])


def is_linked(spec: m.Spec) -> bool:
    """Whether every name in a spec is that of something."""
    called: tuple[m.Function | m.Callback, ...] = (*spec.functions, *spec.callbacks)
    groups: list[tuple[m.Field | m.Param, ...]] = [s.fields for s in spec.structs]
    groups += [item.params for item in called]
    for parts in groups:
        names = {part.name for part in parts}
        for part in parts:
            links = {part.array, part.count if isinstance(part, m.Param) else None} - {None}
            if is_unknown(part.type) or not links <= names:
                return False
    return not any(is_unknown(item.returns) for item in called)


def is_unknown(kind: m.Type | None) -> bool:
    return isinstance(kind, m.Ref) and kind.kind == "unknown"


# --- git ---


def from_git(given: str, reading: Reading) -> Abi:
    """A spec, baseline or header as a commit has it; of a header, the whole folder, for what it includes."""
    parts = given.split(":", 2)
    if len(parts) != 3 or not all(parts):
        raise DiffError(f"{given}: write git:REF:PATH, such as git:main:abi/llama_speculative.yaml.")
    _, ref, path = parts
    if Path(path).suffix in YAML:
        data = git("show", f"{ref}:./{path}" if not path.startswith("/") else f"{ref}:{path[1:]}")
        try:
            return recalled(make_source(given, data.decode("utf-8")), given)
        except UnicodeDecodeError:
            raise DiffError(f"{given} is not text in UTF-8.") from None
    if Path(path).suffix not in HEADERS:
        raise DiffError(f"{given}: from git come specs, baselines (.yaml) and headers (.h); libraries are built, not committed.")
    import io
    import tarfile
    import tempfile

    folder = str(Path(path).parent)
    with (
        tempfile.TemporaryDirectory(prefix="specbind-") as temporary,
        tarfile.open(fileobj=io.BytesIO(git("archive", ref, folder))) as tar,
    ):
        tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
        tar.extractall(temporary)
        from specbind.diff.headers import read_header

        header = Path(temporary, path)
        spec = read_header(header, reading.includes, reading.prefix)
        return Abi(Side(given, spec.version, ""), "header", spec, read_from=str(header))


def git(*command: str) -> bytes:
    import subprocess

    try:
        done = subprocess.run(["git", *command], capture_output=True)
    except OSError:
        raise DiffError("git is missing, and a side is git:REF:PATH. Debian and Ubuntu: `apt install git`.") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["git failed"]
        raise DiffError(f"git {' '.join(command)}: {said[0].removeprefix('fatal: ')}")
    return done.stdout


# --- together ---


def open_pair(old: str, new: str, reading: Reading, baselines: Path) -> tuple[Abi, Abi]:
    """Both sides. A header beside something that knows its prefix is read with that."""
    opened = {given: open_side(given, reading, baselines) for given in (old, new) if not is_header(given)}
    prefixes = [abi.spec.prefix for abi in opened.values() if abi.spec is not None]
    if reading.prefix is None and prefixes:
        reading = replace(reading, prefix=prefixes[0])
    opened |= {given: open_side(given, reading, baselines) for given in (old, new) if is_header(given)}
    return opened[old], opened[new]


def is_header(given: str) -> bool:
    return Path(given).suffix in HEADERS


def compare_sides(old: Abi, new: Abi, reading: Reading) -> tuple[Finding, ...]:
    """All changes from one side to the other, by what both know."""
    kinds = {old.kind, new.kind}
    if "library" in kinds:
        from specbind.diff.library import host_target, read_library
        from specbind.diff.table import Table, compare_tables, of_spec

        def table(abi: Abi) -> Table:
            if abi.library is not None:
                return read_library(abi.library).table
            assert abi.spec is not None
            return of_spec(abi.spec, host_target(), declared=abi.kind == "header")

        return compare_tables(table(old), table(new))
    from specbind.diff.compare import compare

    assert old.spec is not None and new.spec is not None
    documented = "baseline" not in kinds
    if "header" in kinds:
        from specbind.diff.headers import as_header, named, placed_in

        specs = [abi.spec for abi in (new, old) if abi.spec is not None and abi.kind != "header"]
        declared = [abi.spec if abi.kind == "header" else as_header(abi.spec, reading.includes) for abi in (old, new) if abi.spec]
        changes = compare(*declared, documented=documented, declared=True)
        found = named(changes, {abi.read_from: abi.side.label for abi in (old, new) if abi.read_from})
        return tuple(placed_in(found, specs))
    return compare(old.spec, new.spec, documented=documented)
