"""The shim's sources as files of the tree: grouped, renamed, with the tree's includes, and without `driver_access`.

The proposal is made of the shim's own text, so that one cannot learn something that the other does not. What differs
is data in `intree.yaml`: which file goes where, and what things are called in the tree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from specbind.propose.errors import ProposeError
from specbind.propose.sources import Source, parse, replace_in_comments, replace_words

RULES = Path(__file__).parent / "intree.yaml"
HEADER = "llama-speculative.h"
IMPL = "llama-speculative-impl.h"
DRIVER = ("driver_access.h", "driver_access.cpp")
# headers of the shim whose content is part of another file in the tree
GENERATED = ("abi.h", "impl.h", "identity_table.h", "handles.h")


@dataclass(frozen=True)
class Shim:
    """Texts of the shim by name: `rounds.cpp` for native/src, `generated/abi.h` for what the spec gives; and the rules."""

    texts: Mapping[str, str]
    rules: Mapping[str, Any]
    public_header: str  # as the shim includes it

    @cached_property
    def own(self) -> frozenset[str]:
        names = {Path(name).name for name in self.texts}
        return frozenset(names | set(GENERATED) | {self.public_header})

    def parsed(self, name: str) -> Source:
        return parse(self.texts[name], self.own)

    def translated(self, text: str) -> str:
        """Text of the shim in the tree's words; calls of the driver go to their new names."""
        text = replace_words(text, self.rules["words"])
        text = re.sub(r"\bdriver::(\w+)", lambda m: self.driver_name(m[1]), text)
        return replace_in_comments(text, self.rules["comments"])

    def driver_name(self, name: str) -> str:
        for names in self.rules["driver"].values():
            if name in names:
                return str(names[name])
        raise ProposeError(
            f"driver::{name}: intree.yaml does not say what this is called in the tree. Name it there under `driver`, "
            "beside the place where it goes."
        )


def load_rules() -> dict[str, Any]:
    rules: dict[str, Any] = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    return rules


def read_shim(native: Path, generated: Mapping[str, str], public_header: str) -> Shim:
    """The shim of a checkout with the generated part as the spec gives it now. Raises ProposeError for a file that no rule names."""
    rules = load_rules()
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted((native / "src").iterdir()) if path.suffix in (".h", ".cpp")}
    texts |= {f"generated/{name}": text for name, text in generated.items()}
    placed = [part for file in rules["files"].values() for part in file["parts"]]
    for name in texts:
        if name not in placed and not name.startswith("generated/"):
            raise ProposeError(f"native/src/{name}: intree.yaml does not say which file of the tree it belongs to. Add it under `files`.")
    for name in placed:
        if name not in texts:
            raise ProposeError(f"{name}: intree.yaml names a file of the shim that is not there.")
    return Shim(texts, rules, public_header)


def library_files(shim: Shim, driver: Mapping[str, str]) -> dict[str, str]:
    """Files of tools/speculative that come from the shim. `driver`: what is left there of driver_access.h and .cpp."""
    return {
        name: assembled(shim, name, str(rule["about"]), [str(part) for part in rule["parts"]], driver)
        for name, rule in shim.rules["files"].items()
    }


def assembled(shim: Shim, name: str, about: str, parts: list[str], driver: Mapping[str, str]) -> str:
    """One file of the tree: its purpose, the tree's headers, the system's, then the parts one after the other."""
    sources = [shim.parsed(part) for part in parts if part not in DRIVER]
    other = {each for source in sources for each in source.other}
    system = {each for source in sources for each in source.system}
    if name.endswith(".h"):
        first, other = f'#pragma once\n\n#include "{HEADER}"\n', other | {"speculative.h", "../../src/llama-ext.h"}
    elif name.endswith(".c"):
        first = f'#include "{HEADER}"\n'
    else:
        first, other = f'#include "{IMPL}"\n', other - {"common.h", "llama.h"}  # the private header has them
    includes = [[f'"{each}"' for each in sorted(other)], [f"<{each}>" for each in sorted(system)]]
    blocks = [f"/* {about} */\n{first}" if name.endswith(".c") else f"// {about}\n{first}"]
    blocks += ["".join(f"#include {each}\n" for each in group) for group in includes if group]
    blocks += [driver[part] if part in DRIVER else shim.translated(body(shim, part)) for part in parts]
    return merged("\n".join(blocks))


def body(shim: Shim, part: str) -> str:
    """A part without includes. The identity table's declarations stand where its header was included."""
    text = shim.parsed(part).text
    table = re.findall(r"^extern .*\n", shim.texts["generated/identity_table.h"], re.M)
    return text.replace('extern "C" {\n}\n', 'extern "C" {\n' + "".join(table) + "}\n")


def merged(text: str) -> str:
    """Leave a namespace open that is closed and opened again at once; a comment between is the heading of what follows."""
    again = re.compile(r"^\} // namespace (\S+)\n\n((?://.*\n)*)\n?namespace \1 \{\n\n?", re.M)
    return again.sub(lambda m: f"//\n{m[2]}//\n\n" if m[2] else "", text)
