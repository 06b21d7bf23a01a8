#!/usr/bin/env python3
"""Runs other ABI checkers on the pairs of `tests/diff/fixtures` and writes docs/comparison.md.

    pip install -e . && pip install abicheck==0.7.0 abi-forge==1.0.5
    apt install abigail-tools abi-compliance-checker abi-dumper clang gcc
    python ci/comparison.py [-o docs/comparison.md] [--only RULE ...]

Each pair becomes two headers and two small libraries with debug information, which every tool gets. Tools run with their
defaults, except that abidiff is told not to report additions. What a pair breaks is what its fixture says.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import yaml

from specbind.check.header import generated_prototypes
from specbind.diff.finding import Verdict
from specbind.diff.library import host_target
from specbind.diff.rules import rules
from specbind.diff.sides import Reading, open_side
from specbind.emit.c import assertions
from specbind.emit.c.naming import CNaming
from specbind.emit.core import backends
from specbind.spec import model as m

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "tests" / "diff" / "fixtures"
TIMEOUT = 120  # seconds for one tool on one pair


@dataclass(frozen=True)
class Side:
    header: Path
    library: Path
    folder: Path


@dataclass(frozen=True)
class Pair:
    """`verdict` is what the fixture's own expectation says; `in_c` whether the two headers differ in more than comments."""

    name: str
    verdict: Verdict
    old: Side
    new: Side
    in_c: bool
    folder: Path

    @property
    def breaks(self) -> bool:
        return self.verdict >= Verdict.SOURCE


@dataclass
class Tool:
    """`command` runs it and says whether it raised an alarm; None if it failed."""

    name: str
    program: str
    install: str
    judge: Callable[[Pair], bool | None]
    results: dict[str, bool | None] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)


# --- making the pairs ------------------------------------------------------------------------------------------------


def make_pair(folder: Path, work: Path) -> Pair | None:
    """None for pairs whose sides are not specs: those of headers and built libraries are about specbind's own readers."""
    if not (folder / "old.yaml").is_file() or not (folder / "new.yaml").is_file():
        return None
    name = folder.relative_to(FIXTURES).as_posix()
    expected = yaml.safe_load((folder / "expected.yaml").read_text(encoding="utf-8"))
    verdict = max((rules()[each["rule"]].verdict for each in expected), default=Verdict.NONE)
    specs = [open_side(str(folder / f"{side}.yaml"), Reading(), FIXTURES).spec for side in ("old", "new")]
    common = {s.name for s in specs[0].structs} & {s.name for s in specs[1].structs}
    callbacks = {c.name for c in specs[0].callbacks} & {c.name for c in specs[1].callbacks}
    place = work / name.replace("/", "-")
    old, new = (make_side(spec, common, callbacks, place / side) for spec, side in zip(specs, ("old", "new"), strict=True))
    return Pair(name, verdict, old, new, bare(old.header) != bare(new.header), place)


def make_side(spec: m.Spec, structs: set[str], callbacks: set[str], folder: Path) -> Side:
    """Header and library. A function takes each struct and callback that both sides have: else no binary would tell of them."""
    folder.mkdir(parents=True)
    naming = CNaming(spec)
    header = folder / "api.h"
    # some fixtures differ between targets, which the back end refuses to put into one header
    with patch.object(assertions, "TARGETS", {"host": host_target()}):
        text = next(text for path, text in backends()["c"].render(spec).items() if path.startswith("native/include/"))
        prototypes = generated_prototypes(spec).values()
    takes = [f"{naming.struct(name)} *" for name in sorted(structs)] + [naming.callback(name) for name in sorted(callbacks)]
    uses = [f"{naming.export_macro} void kiosk_use_{number}({kind} value);" for number, kind in enumerate(takes)]
    uses.append(f"{naming.export_macro} void kiosk_anchor(void);")
    end = text.rindex("#ifdef __cplusplus", 0, text.rindex("// Layout:"))
    header.write_text(f"{text[:end]}{''.join(f'{use}{chr(10)}' for use in uses)}{text[end:]}", encoding="utf-8")
    bodies = [re.sub(r";$", " {}" if proto.startswith("void ") and "*" not in proto.split("(")[0] else " { return 0; }", proto)
              for proto in prototypes]  # fmt: skip
    bodies += [use.removeprefix(naming.export_macro).removesuffix(";") + " {}" for use in uses]
    source = folder / "api.c"
    source.write_text('#include "api.h"\n' + "\n".join(bodies) + "\n", encoding="utf-8")
    library = folder / "libkiosk.so"
    subprocess.run(["gcc", "-w", "-g", "-Og", "-shared", "-fPIC", "-fvisibility=hidden", "-o", library, source], check=True)
    return Side(header, library, folder)


def bare(header: Path) -> str:
    """A header without comments and without the check of its own layout."""
    text = header.read_text(encoding="utf-8").partition("// Layout:")[0]
    return " ".join(re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL).split())


# --- the tools -------------------------------------------------------------------------------------------------------


def run(*command: object, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """Run to the end, or end it with all that it started: some of these tools are wrappers of others."""
    words = [str(c) for c in command]
    pipe = subprocess.PIPE
    child = subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, errors="replace", cwd=cwd, env=os.environ | env, start_new_session=True)
    try:
        said = child.communicate(timeout=TIMEOUT)
    except BaseException:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        raise
    return subprocess.CompletedProcess(words, child.returncode, *said)


def program(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))


def specbind(pair: Pair) -> bool | None:
    sides = [FIXTURES / pair.name / f"{side}.yaml" for side in ("old", "new")]
    code = run(program("specbind"), "diff", *sides).returncode
    return code >= 3 if code not in (1, 2) else None


def specbind_headers(pair: Pair) -> bool | None:
    """Its own weaker side: two headers, as the others have them."""
    code = run(program("specbind"), "diff", pair.old.header, pair.new.header, "--prefix", "kiosk_").returncode
    return code >= 3 if code not in (1, 2) else None


def abidiff(pair: Pair) -> bool | None:
    code = run("abidiff", "--no-added-syms", "--headers-dir1", pair.old.folder, "--headers-dir2", pair.new.folder,
               pair.old.library, pair.new.library).returncode  # fmt: skip
    return None if code & 3 else bool(code & 12)  # 1, 2: error, usage; 4: change; 8: incompatible change


def abi_compliance_checker(pair: Pair) -> bool | None:
    dumps = []
    for version, side in (("1", pair.old), ("2", pair.new)):
        dump = side.folder / "abi.dump"
        run("abi-dumper", side.library, "-o", dump, "-lver", version, "-public-headers", side.folder, cwd=pair.folder)
        if not dump.is_file():
            return None  # the checker would look for it for ever
        dumps.append(dump)
    code = run("abi-compliance-checker", "-l", "kiosk", "-old", dumps[0], "-new", dumps[1], cwd=pair.folder).returncode
    return {0: False, 1: True}.get(code)


def abicheck(pair: Pair) -> bool | None:
    headers = ("--header", f"old={pair.old.header}", "--header", f"new={pair.new.header}")
    # its other way of reading headers wants a newer castxml than distributions have
    code = run(program("abicheck"), "compare", pair.old.library, pair.new.library, *headers, ABICHECK_AST_FRONTEND="clang").returncode
    return {0: False, 2: True, 4: True}.get(code)


def abi_forge(pair: Pair) -> bool | None:
    tool, snapshots, config = program("abi_framework"), [], pair.folder / "abi.json"
    run(tool, "init-target", "--repo-root", pair.old.folder, "--config", config, "--target", "kiosk",
        "--header-path", "api.h", "--binary-path", "libkiosk.so", "--no-create-baseline", "--force")  # fmt: skip
    for side in (pair.old, pair.new):
        snapshots.append(side.folder / "snapshot.json")
        run(tool, "snapshot", "--repo-root", side.folder, "--config", config, "--target", "kiosk", "--output", snapshots[-1])
    if not all(snapshot.is_file() for snapshot in snapshots):
        return None
    return {0: False, 1: True}.get(run(tool, "diff", "--baseline", snapshots[0], "--current", snapshots[1]).returncode)


TOOLS = (
    Tool("specbind diff", "specbind", "this repository", specbind),
    Tool("specbind diff, headers only", "specbind", "this repository, and pip install libclang", specbind_headers),
    Tool("abidiff", "abidiff", "apt install abigail-tools", abidiff),
    Tool("abi-compliance-checker", "abi-compliance-checker", "apt install abi-compliance-checker abi-dumper", abi_compliance_checker),
    Tool("abicheck", "abicheck", "pip install abicheck==0.7.0, apt install clang", abicheck),
    Tool("abi-forge", "abi_framework", "pip install abi-forge==1.0.5, apt install clang", abi_forge),
)


def try_tool(tool: Tool, pair: Pair) -> None:
    start = time.monotonic()
    try:
        tool.results[pair.name] = tool.judge(pair)
    except (subprocess.TimeoutExpired, OSError):
        tool.results[pair.name] = None
    tool.times.append(time.monotonic() - start)


def version(tool: Tool) -> str:
    said = run(program(tool.program) or tool.program, "--version")
    found = re.search(r"\d+(\.\d+)+", said.stdout + said.stderr)
    return found[0] if found and said.returncode == 0 else re.sub(r".*==([\d.]+).*|.*", r"\1", tool.install)


# --- the page --------------------------------------------------------------------------------------------------------


def outcome(pair: Pair, alarm: bool | None) -> str:
    if alarm is None:
        return "failed"
    if pair.breaks:
        return "caught" if alarm else "**missed**"
    return "**false alarm**" if alarm else "quiet"


def summary(tools: list[Tool], pairs: list[Pair]) -> list[str]:
    groups = {
        "breaks seen in C": [p for p in pairs if p.breaks and p.in_c],
        "breaks that only the spec tells": [p for p in pairs if p.breaks and not p.in_c],
        "harmless": [p for p in pairs if not p.breaks],
    }
    titles = [f"{title} ({len(group)})" for title, group in groups.items()]
    lines = [f"| tool | version | {titles[0]}: caught / missed | {titles[1]}: caught | {titles[2]}: false alarms | failed | median time |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    for tool in tools:
        got = [[tool.results[p.name] for p in group] for group in groups.values()]
        failed = sum(each.count(None) for each in got)
        lines.append(
            f"| {tool.name} | {version(tool)} | {got[0].count(True)} / {got[0].count(False)} | {got[1].count(True)} | {got[2].count(True)} "
            f"| {failed} | {statistics.median(tool.times):.2f} s |"
        )
    return lines


def matrix(tools: list[Tool], pairs: list[Pair]) -> list[str]:
    lines = [f"| pair | is | {' | '.join(t.name for t in tools)} |", f"|---|---|{'---|' * len(tools)}"]
    for pair in pairs:
        kind = pair.verdict.label + ("" if pair.in_c else ", not in C")
        lines.append(f"| {pair.name} | {kind} | {' | '.join(outcome(pair, t.results[pair.name]) for t in tools)} |")
    return lines


def page(tools: list[Tool], missing: list[Tool], pairs: list[Pair]) -> str:
    text = (Path(__file__).with_name("comparison.md.in")).read_text(encoding="utf-8")
    absent = "".join(f"- {t.name} was not to be had where this page was made: {t.install}.\n" for t in missing)
    parts = {
        "SUMMARY": "\n".join(summary(tools, pairs)),
        "MATRIX": "\n".join(matrix(tools, pairs)),
        "ABSENT": f"\n{absent}" if absent else "",
        "COUNT": str(len(pairs)),
    }
    return re.sub(r"@(\w+)@", lambda found: parts[found[1]], text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "comparison.md")
    parser.add_argument("--only", nargs="*", metavar="RULE", help="pairs whose name begins so")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    options = parser.parse_args()
    known = [tool for tool in TOOLS if tool.judge is not specbind_headers or find_spec("specbind.cheader")]
    tools = [tool for tool in known if program(tool.program)]
    missing = [tool for tool in known if tool not in tools]
    with tempfile.TemporaryDirectory(prefix="comparison-") as temporary:
        folders = sorted(path.parent for path in FIXTURES.rglob("expected.yaml"))
        chosen = [f for f in folders if not options.only or f.relative_to(FIXTURES).as_posix().startswith(tuple(options.only))]
        pairs = [pair for folder in chosen if (pair := make_pair(folder, Path(temporary)))]
        with ThreadPoolExecutor(options.jobs) as pool:
            for number, pair in enumerate(pool.map(lambda p: ([try_tool(tool, p) for tool in tools], p)[1], pairs), 1):
                print(f"{number}/{len(pairs)} {pair.name}: " + ", ".join(f"{t.name} {outcome(pair, t.results[pair.name])}" for t in tools), flush=True)
        text = page(tools, missing, pairs)
    temporary_file = options.output.with_suffix(".new")
    temporary_file.write_text(text, encoding="utf-8")
    os.replace(temporary_file, options.output)
    print(options.output)


if __name__ == "__main__":
    main()
