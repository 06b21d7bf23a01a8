"""`driver_access` taken apart: each function goes to where its private members are, as llama.cpp's own.

driver_access.cpp is the list of what llama.cpp would have to make public. In the shim it includes `speculative.cpp` to
get at it; in the tree each function stands in the file whose members it uses, under the name that `intree.yaml` gives it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from specbind.propose.errors import ProposeError
from specbind.propose.shim import Shim
from specbind.propose.sources import Definition, definitions, inside, replace_in_comments

NAMESPACE = "spb::driver"
ALIAS = re.compile(r"^using (\w+) *= *(common_speculative_impl_\w+);$", re.M)
HEADERS = {"common": "common/speculative.h", "context": "src/llama-ext.h", "model": "src/llama-ext.h"}
CPP = re.compile(r"std::")  # what a declaration with C linkage cannot have


@dataclass(frozen=True, slots=True)
class Public:
    """A function that becomes public, and what it is for."""

    name: str
    where: str  # header
    purpose: str


@dataclass(frozen=True)
class Driver:
    """Text by destination, as in `intree.yaml`. Declarations of libllama that cannot have C linkage are under `c++`."""

    declarations: Mapping[str, str]
    definitions: Mapping[str, str]
    public: tuple[Public, ...]


def split(shim: Shim) -> Driver:
    """Take driver_access apart. Raises ProposeError for a function that no rule names."""
    places = {name: place for place, names in shim.rules["driver"].items() for name in names}
    helpers: Mapping[str, str] = shim.rules["helpers"]
    header = definitions(inside(shim.parsed("driver_access.h").text, NAMESPACE))
    source = shim.parsed("driver_access.cpp").text
    aliases = {m[1]: m[2] for m in ALIAS.finditer(source)}
    bodies = [d for d in definitions(inside(source, NAMESPACE)) if d.name not in aliases]

    for each in header:
        if each.name not in places:
            raise ProposeError(
                f"driver_access.h: {each.name} has no row in intree.yaml. Add it under `driver`, beside the place where it goes."
            )
    for each in bodies:
        if each.name.removesuffix("::operator()") not in {**places, **helpers}:
            raise ProposeError(f"driver_access.cpp: the helper {each.name} has no row in intree.yaml. Add it under `helpers`.")

    words = Words(shim, aliases)
    kinds = ("common", "context", "model", "library")
    of_llama = ("context", "model")
    chosen = {kind: [d for d in header if places[d.name] == kind] for kind in kinds}
    exported = [d for kind in of_llama for d in chosen[kind]]
    return Driver(
        {
            "common": declared(words, chosen["common"], "common"),
            "library": declared(words, chosen["library"], "library"),
            "c": declared(words, (d for d in exported if not CPP.search(d.code)), "llama"),
            "c++": declared(words, (d for d in exported if CPP.search(d.code)), "llama"),
        },
        {
            kind: "\n".join(
                words.renamed(d.text, kind)
                for d in bodies
                if places.get(d.name, "common" if d.name in helpers else "") == kind
            )
            for kind in kinds
        },
        tuple(
            Public(words.names[d.name], HEADERS[places[d.name]], words.purpose(d))
            for kind in HEADERS
            for d in chosen[kind]
            if "(" in d.code
        ),
    )


class Words:
    """The shim's words in a definition of the driver, turned into those of its destination."""

    def __init__(self, shim: Shim, aliases: Mapping[str, str]) -> None:
        driver = shim.rules["driver"]
        self.names = {name: new for names in driver.values() for name, new in names.items()} | shim.rules["helpers"]
        self.comments = shim.rules["comments"]
        self.aliases = aliases

    def renamed(self, text: str, kind: str) -> str:
        for alias, full in self.aliases.items():
            text = re.sub(rf"\bas<{alias}>", f"as<{full}>", text)
        # not of members, and not of the driver's own virtual functions
        text = re.sub(r"(?<![\w.>:])(\w+)(?=\(|<common_)", lambda m: self.names.get(m[1], m[1]), text)
        text = re.sub(r"\b(as)(?= \(common|\(common)", lambda m: self.names["as"], text)
        text = re.sub(r"\brequest\b(?= [&{*])|\brequest\b(?=>)", self.names["request"], text)
        text = text.replace("spb::format(", "format(")
        if kind == "common":
            text = re.sub(r"(?<![\w_:])format\(", "string_format(", text)
        if kind == "model":
            text = re.sub(r"architecture\((\w+)\)\.c_str\(\)", r"\1->arch_name().c_str()", text)
        text = re.sub(r"//.*", lambda m: re.sub(r"`(\w+)`", lambda n: f"`{self.names.get(n[1], n[1])}`", m[0]), text)
        return replace_in_comments(text, self.comments)

    def purpose(self, definition: Definition) -> str:
        """Its comment in one line."""
        return " ".join(line.lstrip("/ ").strip() for line in self.renamed(definition.comment, "common").splitlines())


def declared(words: Words, items: Iterable[Definition], kind: str) -> str:
    """Declarations, each comment once; those of libllama are exported."""
    blocks: list[str] = []
    comment = None
    for each in items:
        code = words.renamed(each.code, kind)
        if kind == "llama":
            code = "LLAMA_API " + re.sub(r" {2,}", " ", code)
        if each.comment and each.comment != comment:
            blocks.append("\n" + words.renamed(each.comment, kind))
        elif not each.comment:
            blocks.append("\n")
        blocks.append(code)
        comment = each.comment
    return "".join(blocks).lstrip("\n")


def library_parts(driver: Driver) -> dict[str, str]:
    """What is left of driver_access in the library's own files."""
    opened, closed = "namespace llama_spec {\n\n", "\n} // namespace llama_spec\n"
    return {
        "driver_access.h": opened + driver.declarations["library"] + closed,
        "driver_access.cpp": opened + driver.definitions["library"] + closed,
    }
