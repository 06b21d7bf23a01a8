"""Hypothesis strategies for specs: valid ones, made so that no rule can object, and texts that somebody broke.

Valid specs are built from parts that are right by construction; where the rules of C decide (padding), the arithmetic is
done here once more, apart from the layout engine.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

SAMPLE = Path(__file__).with_name("sample.yaml").read_text(encoding="utf-8")
ABI = (Path(__file__).parents[2] / "abi" / "llama_speculative.yaml").read_text(encoding="utf-8")

Item = dict[str, Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]

INTEGERS = {name: (int(name[1:]), name[0] == "i") for name in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")}
SCALARS = (*INTEGERS, "f32", "f64", "size")
SIZES = {"f32": 4, "f64": 8, **{name: bits // 8 for name, (bits, _) in INTEGERS.items()}}
# Width of a pointer, alignment of 64-bit numbers: all that data models differ in.
MODELS = ((8, 8), (4, 4), (4, 8))

texts = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters='`\\*"'), min_size=1, max_size=20)
versions = st.sampled_from(["0.1.0", "0.2.0", "1.0.0"])


def width(field: Item, pointer: int, align8: int) -> tuple[int, int]:
    """Size and alignment of a field in a data model."""
    kind = field["type"]
    if "array" in field or kind not in SIZES:
        return (4, 4) if kind.startswith("enum") and "array" not in field else (pointer, pointer)
    return SIZES[kind], align8 if SIZES[kind] == 8 else SIZES[kind]


def is_dense(fields: list[Item], *, closed: bool) -> bool:
    """Whether C puts no byte between fields, nor, if `closed`, behind the last, on any target."""
    for pointer, align8 in MODELS:
        end, strictest = 0, 1
        for field in fields:
            size, align = width(field, pointer, align8)
            if end % align:
                return False
            end, strictest = end + size, max(strictest, align)
        if closed and end % strictest:
            return False
    return True


def limits(kind: str) -> tuple[float, float]:
    """Numbers that fit a type on every target."""
    if kind in ("f32", "f64"):
        return -1e6, 1e6
    bits, signed = INTEGERS.get(kind, (32, False))
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)


@st.composite
def numbers(draw: Draw, kind: str) -> Item:
    """A range and a default inside it, or less."""
    low, high = limits(kind)
    whole = kind not in ("f32", "f64")
    strategy = st.integers(int(low), int(high)) if whole else st.floats(low, high, allow_nan=False, width=32)
    least, default, most = sorted(draw(st.tuples(strategy, strategy, strategy)))
    chosen = {"min": least, "max": most, "default": default, "unit": "things"}
    return {key: value for key, value in chosen.items() if draw(st.booleans())}


@st.composite
def structs(draw: Draw, name: str, enums: list[str], objects: list[str], frozen: list[str]) -> Item:
    """A struct without padding on any target, and the `init` that it needs if it has defaults."""
    growable = draw(st.booleans())
    fields: list[Item] = (
        [{"name": "struct_size", "type": "u32"}]
        if growable
        else [{"name": "first", "type": draw(st.sampled_from(SCALARS)), "doc": "The first."}]
    )
    fields[0] |= {} if growable else {"doc": "The first."}
    for index in range(draw(st.integers(0, 12))):
        field: Item = {
            "name": f"f{index}",
            "type": draw(st.sampled_from([*SCALARS, *enums, *objects, "str"])),
            "doc": draw(texts),
        }
        if field["type"] in SCALARS and growable:
            field |= draw(numbers(field["type"]))
        if field["type"] in objects or field["type"] == "str":
            field |= {"nullable": draw(st.booleans()), "lifetime": "the next call"}
        lengths = [
            f["name"] for f in fields if f["type"] in ("u32", "size", "u16") and "array" not in f and f["name"] != "struct_size"
        ]
        if lengths and draw(st.booleans()):
            kind = draw(st.sampled_from([*SCALARS, *enums, "str", *frozen]))
            field = {
                "name": f"f{index}",
                "type": kind,
                "array": draw(st.sampled_from(lengths)),
                "lifetime": "ever",
                "doc": draw(texts),
            }
        for filler in range(4):
            if is_dense([*fields, field], closed=False):
                fields.append(field)
                break
            fields.append({"name": f"r{index}_{filler}", "type": draw(st.sampled_from(["u8", "u16", "u32"])), "doc": "Always 0."})
            if not is_dense(fields, closed=False):
                fields.pop()
    while not is_dense(fields, closed=True):
        fields.pop()
    used = {f["array"] for f in fields if "array" in f}
    assert used <= {f["name"] for f in fields}
    made: Item = {"name": name, "growable": growable, "doc": draw(texts), "fields": fields}
    return made | ({"init": f"{name}_init"} if any("default" in f for f in fields) else {})


@st.composite
def parameters(draw: Draw, spec: Item, enums: list[str], receiver: str | None) -> list[Item]:
    """Parameters of which no two could be swapped."""
    made: list[Item] = [{"name": "self", "type": receiver}] if receiver else []
    growing = [s["name"] for s in spec["structs"] if s["growable"]]
    every = [s["name"] for s in spec["structs"]]
    ways = ["number", "enum", "text", "array", "buffer", "out", "foreign", "callback", "address"]
    ways += ["struct", "struct out"] if growing else []
    for index, way in enumerate(draw(st.lists(st.sampled_from(ways), max_size=5))):
        if way == "address" and any(p.get("pointer") for p in made):
            continue
        base: Item = {"name": f"p{index}", "doc": draw(texts)}
        role = {"role": f"role{index}"}
        kind = draw(st.sampled_from(SCALARS))
        size = {"name": f"n{index}", "type": "size", "doc": "A number."}
        count = {"name": f"c{index}", "type": "size", "direction": "out", "doc": "A number."}
        match way:
            case "number":
                made.append(base | role | {"type": kind} | draw(numbers(kind)))
            case "enum":
                made.append(base | role | {"type": draw(st.sampled_from(enums))})
            case "text":
                made.append(base | role | {"type": "str", "nullable": draw(st.booleans())})
            case "array":
                made += [base | role | {"type": kind, "array": size["name"]}, size]
            case "buffer":
                out = {"type": kind, "direction": "out", "array": size["name"], "count": count["name"]}
                made += [base | role | out, size, count]
            case "out":
                made.append(base | role | {"type": kind, "direction": "out"})
            case "foreign":
                ownership = draw(st.sampled_from(["borrowed", "transferred"]))
                made.append(base | role | {"type": "other_thing", "ownership": ownership})
            case "callback":
                user = {"name": f"u{index}", "type": "pointer", "role": f"user{index}", "doc": "Given back."}
                made += [base | role | {"type": "called", "nullable": True}, user]
            case "address":
                length = {"name": f"n{index}", "type": "i32", "direction": "out", "role": "length", "doc": "Its length."}
                made += [base | {"type": kind, "direction": "out", "pointer": True, "lifetime": "the next call"}, length]
            case "struct":
                made.append(
                    base | role | {"type": draw(st.sampled_from(every)), "direction": "in", "nullable": draw(st.booleans())}
                )
            case "struct out":
                direction = draw(st.sampled_from(["out", "inout"]))
                made.append(base | role | {"type": draw(st.sampled_from(growing)), "direction": direction})
    return made


@st.composite
def valid_specs(draw: Draw) -> Item:
    """A whole spec, as the values that its YAML holds."""
    status = [("OK", 0), ("END", 1), ("ERROR_INVALID_ARGUMENT", -1), ("ERROR_BUFFER_TOO_SMALL", -2), ("ERROR_OTHER", -3)]
    enums = [f"enum{index}" for index in range(draw(st.integers(1, 3)))]
    objects = ["object"] if draw(st.booleans()) else []
    spec: Item = {
        "spec": 1,
        "library": {
            "name": "made",
            "prefix": draw(st.sampled_from(["made_", "m_", "a_long_prefix_"])),
            "version": "1.0.0",
            "since": "0.1.0",
            "doc": draw(texts),
        },
        "groups": [{"name": "all", "title": "All", "doc": draw(texts)}],
        "constants": [
            {"name": f"CONSTANT{index}", "type": kind, "value": draw(st.integers(*map(int, limits(kind)))), "doc": draw(texts)}
            for index, kind in enumerate(draw(st.lists(st.sampled_from(SCALARS), max_size=3)))
        ],
        "foreign": [{"name": "other_thing", "header": "other.h", "release": "other_free", "doc": draw(texts)}],
        "enums": [
            {
                "name": "status",
                "prefix": "",
                "role": "status",
                "doc": "Results.",
                "values": [{"name": n, "value": v, "doc": "A result."} for n, v in status],
            },
            *(
                {
                    "name": name,
                    "doc": draw(texts),
                    "values": [
                        {"name": f"VALUE{index}", "value": value, "doc": draw(texts), "since": draw(versions)}
                        for index, value in enumerate(
                            draw(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=5, unique=True))
                        )
                    ],
                }
                for name in enums
            ),
        ],
        "callbacks": [
            {
                "name": "called",
                "doc": draw(texts),
                "thread": draw(st.sampled_from(["caller", "any"])),
                "lifetime": "ever",
                "returns": draw(st.sampled_from(["void", "i32", "f64"])),
                "params": [
                    {"name": "line", "type": "str", "lifetime": "the call", "doc": "A text."},
                    {"name": "user", "type": "pointer", "nullable": True, "doc": "Given back."},
                ],
            }
        ],
        "structs": [],
        "functions": [],
    }
    if objects:
        prefix = spec["library"]["prefix"]
        spec["handles"] = [{"name": "object", "c_name": prefix + "object", "release": "object_end", "doc": draw(texts)}]
        spec["functions"].append({
            "name": "object_end", "group": "all", "returns": "void", "doc": "Ends it.",
            "params": [{"name": "object", "type": "object", "ownership": "transferred", "nullable": True}],
        })  # fmt: skip
    for index in range(draw(st.integers(0, 4))):
        frozen = [s["name"] for s in spec["structs"] if not s["growable"]]
        made = draw(structs(f"struct{index}", enums, objects, frozen))
        spec["structs"].append(made)
        if "init" in made:
            spec["functions"].append({
                "name": made["init"], "group": "all", "doc": "Fills in the defaults.", "errors": ["ERROR_INVALID_ARGUMENT"],
                "params": [
                    {"name": "out", "type": made["name"], "direction": "init", "doc": "To fill."},
                    {"name": "size", "type": "size", "doc": "Size of the caller's struct."},
                ],
            })  # fmt: skip
    for index in range(draw(st.integers(0, 6))):
        receiver = draw(st.sampled_from([None, *objects]))
        spec["functions"].append({
            "name": f"call{index}", "group": "all", "doc": draw(texts), "since": draw(versions),
            "params": draw(parameters(spec, enums, receiver)),
            "results": draw(st.sampled_from([[], ["END"]])),
            "errors": ["ERROR_INVALID_ARGUMENT", "ERROR_BUFFER_TOO_SMALL"],
        })  # fmt: skip
    return spec


WORDS = (
    "name type doc min max default array count direction in out inout init role which nullable pointer params fields values i32 u64 f32 "
    "size str bool true 0 1 -1 99999999999999999999 1e400 0.1 : - , { } [ ] \" ' | > & * ! # % @ ` \\ \t \x00 \x85 \u2028 é 漢 \U0001f600 "
    "--- ... ? &a *a !!int <<"
).split(" ")


@st.composite
def broken_texts(draw: Draw) -> str:
    """A valid text to which up to four things were done that a person, an editor or a merge would do."""
    text: str = draw(st.sampled_from([SAMPLE, SAMPLE, SAMPLE, SAMPLE, SAMPLE, SAMPLE, SAMPLE, SAMPLE, SAMPLE, ABI]))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(text) - 1)))
        to = min(len(text), at + draw(st.integers(0, 40)))
        line = text.rfind("\n", 0, at) + 1
        line_end = text.find("\n", at) + 1 or len(text)
        other = draw(st.integers(0, max(0, len(text) - 1)))
        match draw(st.sampled_from(["cut", "insert", "replace", "repeat", "drop line", "repeat line", "indent", "swap", "end"])):
            case "cut":
                text = text[:at] + text[to:]
            case "insert":
                text = text[:at] + draw(st.sampled_from(WORDS)) + text[at:]
            case "replace":
                text = text[:at] + draw(st.sampled_from(WORDS) | st.text(max_size=5)) + text[to:]
            case "repeat":
                text = text[:to] + text[at:to] + text[to:]
            case "drop line":
                text = text[:line] + text[line_end:]
            case "repeat line":
                text = text[:line_end] + text[line:line_end] + text[line_end:]
            case "indent":
                text = text[:line] + draw(st.sampled_from(["  ", " ", "\t"])) + text[line:]
            case "swap":
                words = text[at:to], text[other : other + 10]
                text = text[:at] + words[1] + text[to:] + words[0]
            case _:
                text = text[:at]
    return text
