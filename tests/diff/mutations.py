"""Ways to change a spec, each knowing the rule that must notice, for specs as the plain values of their YAML.

A mutation picks its place with the random generator that it is given, and says which findings must come: rule and item,
nothing more. It returns None where a spec has no place for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Item = dict[str, Any]
Found = set[tuple[str, str]]
Mutation = Callable[[Item, Random], Found | None]

MUTATIONS: dict[str, Mutation] = {}
INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
WIDER = {
    "i8": "i32",
    "u8": "u32",
    "i16": "i64",
    "u16": "u64",
    "i32": "i64",
    "u32": "u64",
    "i64": "i32",
    "u64": "u16",
    "f32": "f64",
}
OTHER_SIGN = {name: ("u" if name[0] == "i" else "i") + name[1:] for name in INTEGERS}
OTHER_CLASS = {"i32": "f32", "u32": "f32", "i64": "f64", "u64": "f64", "f32": "i32", "f64": "u64"}


def mutation(function: Mutation) -> Mutation:
    """`parameter_added__front` is a mutation of the rule `parameter-added`."""
    MUTATIONS[function.__name__] = function
    return function


def rule_of(name: str) -> str:
    return name.split("__")[0].replace("_", "-")


def one(random: Random, places: Iterator[Any]) -> Any:
    found = list(places)
    return random.choice(found) if found else None


def fields(spec: Item) -> Iterator[tuple[Item, Item]]:
    for struct in spec.get("structs", []):
        for field in struct["fields"]:
            if field["name"] != "struct_size":
                yield struct, field


def params(spec: Item, sections: tuple[str, ...] = ("functions",)) -> Iterator[tuple[Item, Item]]:
    for section in sections:
        for item in spec.get(section, []):
            for param in item["params"]:
                yield item, param


def is_linked(parts: list[Item], part: Item) -> bool:
    """Whether another part names this one as its length or count, or this one has one."""
    names = {other.get(key) for other in parts for key in ("array", "count")}
    return part["name"] in names or "array" in part


def by_value(part: Item) -> bool:
    return "array" not in part and not part.get("pointer") and part.get("direction", "in") == "in"


def rename(parts: list[Item], part: Item, name: str) -> None:
    for other in parts:
        for key in ("array", "count"):
            if other.get(key) == part["name"]:
                other[key] = name
    part["name"] = name


def removed(spec: Item, item: Item, rule: str, path: str) -> Found:
    """The findings when an item goes: its time has come if it was deprecated in an earlier series of versions."""
    since = item.get("deprecated", {}).get("since")
    old, new = (
        version.split(".")[: 1 if not version.startswith("0.") else 2] for version in (since or "", spec["library"]["version"])
    )
    return {(rule, path)} if since and old != new else {(rule, path), ("removed-early", path)}


# --- structs ---


@mutation
def struct_added(spec: Item, random: Random) -> Found:
    new = {"name": "newcomer", "growable": False, "doc": "New.", "fields": [{"name": "one", "type": "u32", "doc": "One."}]}
    structs = spec.setdefault("structs", [])
    structs.insert(random.randint(0, len(structs)), new)
    return {("struct-added", "struct newcomer")}


@mutation
def field_appended(spec: Item, random: Random) -> Found | None:
    struct = one(random, (s for s in spec.get("structs", []) if s["growable"]))
    if struct is None:
        return None
    struct["fields"].append({"name": "newcomer", "type": random.choice(INTEGERS), "doc": "New."})
    return {("field-appended", f"struct {struct['name']}.newcomer")}


@mutation
def field_appended_frozen(spec: Item, random: Random) -> Found | None:
    struct = one(random, (s for s in spec.get("structs", []) if not s["growable"]))
    if struct is None:
        return None
    struct["fields"].append({"name": "newcomer", "type": random.choice(INTEGERS), "doc": "New."})
    return {("field-appended-frozen", f"struct {struct['name']}.newcomer")}


@mutation
def field_inserted(spec: Item, random: Random) -> Found | None:
    place = one(random, fields(spec))
    if place is None:
        return None
    struct, before = place
    struct["fields"].insert(struct["fields"].index(before), {"name": "newcomer", "type": random.choice(INTEGERS), "doc": "New."})
    return {("field-inserted", f"struct {struct['name']}.newcomer")}


@mutation
def field_removed(spec: Item, random: Random) -> Found | None:
    place = one(random, ((s, f) for s, f in fields(spec) if len(s["fields"]) > 1 and not is_linked(s["fields"], f)))
    if place is None:
        return None
    struct, field = place
    struct["fields"].remove(field)
    return removed(spec, field, "field-removed", f"struct {struct['name']}.{field['name']}")


@mutation
def field_reordered(spec: Item, random: Random) -> Found | None:
    places = [s for s in spec.get("structs", []) if len(s["fields"]) > 2]
    struct = one(random, iter(places))
    if struct is None:
        return None
    at = random.randint(1, len(struct["fields"]) - 2)
    first, second = struct["fields"][at : at + 2]
    struct["fields"][at : at + 2] = second, first
    return {("field-reordered", f"struct {struct['name']}.{first['name']}")}


@mutation
def field_renamed(spec: Item, random: Random) -> Found | None:
    place = one(random, fields(spec))
    if place is None:
        return None
    struct, field = place
    path = f"struct {struct['name']}.{field['name']}"
    rename(struct["fields"], field, "newcomer")
    return {("field-renamed", path)}


def retyped(spec: Item, random: Random, types: dict[str, str], rule: str) -> Found | None:
    place = one(random, ((s, f) for s, f in fields(spec) if by_value(f) and f["type"] in types and not is_linked(s["fields"], f)))
    if place is None:
        return None
    struct, field = place
    field["type"] = types[field["type"]]
    for key in ("default", "min", "max"):
        field.pop(key, None)
    return {(rule, f"struct {struct['name']}.{field['name']}")}


@mutation
def field_width_changed(spec: Item, random: Random) -> Found | None:
    return retyped(spec, random, WIDER, "field-width-changed")


@mutation
def field_sign_changed(spec: Item, random: Random) -> Found | None:
    return retyped(spec, random, OTHER_SIGN, "field-sign-changed")


@mutation
def field_type_changed(spec: Item, random: Random) -> Found | None:
    return retyped(spec, random, OTHER_CLASS, "field-type-changed")


# --- values ---


def valued(spec: Item) -> Iterator[tuple[str, Item]]:
    """Numbers with their path."""
    for struct, field in fields(spec):
        if field["type"] in INTEGERS and by_value(field) and not field.get("min") == field.get("max") == 0:
            yield f"struct {struct['name']}.{field['name']}", field
    for function, param in params(spec):
        if param["type"] in INTEGERS and by_value(param):
            yield f"function {function['name']}({param['name']})", param


@mutation
def default_changed(spec: Item, random: Random) -> Found | None:
    place = one(random, ((path, part) for path, part in valued(spec) if "default" in part))
    if place is None:
        return None
    place[1]["default"] += random.choice([-1, 1])
    return {("default-changed", place[0])}


@mutation
def default_removed(spec: Item, random: Random) -> Found | None:
    place = one(random, ((path, part) for path, part in valued(spec) if "default" in part))
    if place is None:
        return None
    del place[1]["default"]
    return {("default-removed", place[0])}


@mutation
def range_narrowed(spec: Item, random: Random) -> Found | None:
    place = one(random, ((path, part) for path, part in valued(spec) if "min" in part or "max" not in part))
    if place is None:
        return None
    place[1]["min"] = place[1].get("min", 0) + 1
    return {("range-narrowed", place[0])}


@mutation
def range_widened(spec: Item, random: Random) -> Found | None:
    place = one(random, ((path, part) for path, part in valued(spec) if "max" in part))
    if place is None:
        return None
    if random.choice([True, False]):
        place[1]["max"] += 1
    else:
        del place[1]["max"]
    return {("range-widened", place[0])}


@mutation
def unit_changed(spec: Item, random: Random) -> Found | None:
    place = one(random, ((path, part) for path, part in valued(spec) if "unit" in part))
    if place is None:
        return None
    place[1]["unit"] = "parsecs"
    return {("unit-changed", place[0])}


@mutation
def role_changed(spec: Item, random: Random) -> Found | None:
    place = one(random, ((f, p) for f, p in params(spec) if "role" in p and p["role"] != "sequence"))
    if place is None:
        return None
    place[1]["role"] = "newcomer"
    return {("role-changed", f"function {place[0]['name']}({place[1]['name']})")}


def nullable(spec: Item, random: Random, rule: str, *, was: bool) -> Found | None:
    pointers = {"str", *(item["name"] for section in ("foreign", "handles") for item in spec.get(section, []))}
    places = ((f, p) for f, p in params(spec) if p["type"] in pointers and by_value(p) and p.get("nullable", False) is was)
    place = one(random, places)
    if place is None:
        return None
    place[1]["nullable"] = not was
    return {(rule, f"function {place[0]['name']}({place[1]['name']})")}


@mutation
def null_refused(spec: Item, random: Random) -> Found | None:
    return nullable(spec, random, "null-refused", was=True)


@mutation
def null_accepted(spec: Item, random: Random) -> Found | None:
    return nullable(spec, random, "null-accepted", was=False)


# --- enums and constants ---


@mutation
def enum_value_added(spec: Item, random: Random) -> Found:
    enum = random.choice(spec["enums"])
    value = {"name": "NEWCOMER", "value": 1 + max(v["value"] for v in enum["values"]), "doc": "New."}
    enum["values"].insert(random.randint(0, len(enum["values"])), value)
    return {("enum-value-added", f"enum {enum['name']}.NEWCOMER")}


@mutation
def enum_value_removed(spec: Item, random: Random) -> Found | None:
    enum = one(random, (e for e in spec["enums"] if len(e["values"]) > 1))
    if enum is None:
        return None
    value = random.choice(enum["values"])
    enum["values"].remove(value)
    return removed(spec, value, "enum-value-removed", f"enum {enum['name']}.{value['name']}")


@mutation
def enum_value_changed(spec: Item, random: Random) -> Found:
    enum = random.choice(spec["enums"])
    value = random.choice(enum["values"])
    value["value"] = 1 + max(v["value"] for v in enum["values"])
    return {("enum-value-changed", f"enum {enum['name']}.{value['name']}")}


@mutation
def enum_value_renamed(spec: Item, random: Random) -> Found:
    enum = random.choice(spec["enums"])
    value = random.choice(enum["values"])
    path = f"enum {enum['name']}.{value['name']}"
    value["name"] = "NEWCOMER"
    return {("enum-value-renamed", path)}


@mutation
def constant_changed(spec: Item, random: Random) -> Found | None:
    constant = one(random, iter(spec.get("constants", [])))
    if constant is None:
        return None
    constant["value"] = 77 if constant["value"] != 77 else 78
    return {("constant-changed", f"constant {constant['name']}")}


@mutation
def constant_removed(spec: Item, random: Random) -> Found | None:
    constant = one(random, iter(spec.get("constants", [])))
    if constant is None:
        return None
    spec["constants"].remove(constant)
    return {("constant-removed", f"constant {constant['name']}")}


# --- functions ---


@mutation
def function_added(spec: Item, random: Random) -> Found:
    new = {"name": "newcomer", "group": spec["groups"][0]["name"], "returns": "void", "doc": "New.", "params": []}
    spec["functions"].insert(random.randint(0, len(spec["functions"])), new)
    return {("function-added", "function newcomer")}


@mutation
def function_removed(spec: Item, random: Random) -> Found | None:
    function = one(random, iter(spec["functions"]))
    if function is None:
        return None
    spec["functions"].remove(function)
    return removed(spec, function, "function-removed", f"function {function['name']}")


@mutation
def return_type_changed(spec: Item, random: Random) -> Found | None:
    function = one(random, iter(spec["functions"]))
    if function is None:
        return None
    function["returns"] = "u64" if function.get("returns") != "u64" else "u32"
    return {("return-type-changed", f"function {function['name']}")}


@mutation
def errors_added(spec: Item, random: Random) -> Found | None:
    function = one(random, (f for f in spec["functions"] if "errors" in f))
    if function is None:
        return None
    function["errors"].append("ERROR_NEWCOMER")
    return {("errors-added", f"function {function['name']}")}


@mutation
def errors_removed(spec: Item, random: Random) -> Found | None:
    function = one(random, (f for f in spec["functions"] if f.get("errors")))
    if function is None:
        return None
    function["errors"].pop()
    return {("errors-removed", f"function {function['name']}")}


@mutation
def results_added(spec: Item, random: Random) -> Found | None:
    function = one(random, (f for f in spec["functions"] if "returns" not in f))
    if function is None:
        return None
    function.setdefault("results", []).append("NEWCOMER")
    return {("results-added", f"function {function['name']}")}


@mutation
def threads_widened(spec: Item, random: Random) -> Found | None:
    function = one(random, (f for f in spec["functions"] if f.get("threads", "one") == "one"))
    if function is None:
        return None
    function["threads"] = "any"
    return {("threads-widened", f"function {function['name']}")}


@mutation
def deprecated(spec: Item, random: Random) -> Found | None:
    function = one(random, (f for f in spec["functions"] if "deprecated" not in f))
    if function is None:
        return None
    function["deprecated"] = {"since": spec["library"]["version"], "note": "Use another."}
    return {("deprecated", f"function {function['name']}")}


@mutation
def documentation_changed(spec: Item, random: Random) -> Found | None:
    item = one(random, (("function", f) for f in spec["functions"]))
    if item is None:
        return None
    item[1]["doc"] += " And more."
    return {("documentation-changed", f"function {item[1]['name']}")}


# --- parameters ---


def new_parameter() -> Item:
    return {"name": "newcomer", "type": "f32", "role": "newcomer", "doc": "New."}


@mutation
def parameter_added__front(spec: Item, random: Random) -> Found | None:
    function = one(random, iter(spec["functions"]))
    if function is None:
        return None
    function["params"].insert(0, new_parameter())
    return {("parameter-added", f"function {function['name']}(newcomer)")}


@mutation
def parameter_added__back(spec: Item, random: Random) -> Found | None:
    function = one(random, iter(spec["functions"]))
    if function is None:
        return None
    function["params"].append(new_parameter())
    return {("parameter-added", f"function {function['name']}(newcomer)")}


@mutation
def parameter_removed(spec: Item, random: Random) -> Found | None:
    place = one(random, ((f, p) for f, p in params(spec) if not is_linked(f["params"], p)))
    if place is None:
        return None
    function, param = place
    function["params"].remove(param)
    return {("parameter-removed", f"function {function['name']}({param['name']})")}


@mutation
def parameter_renamed(spec: Item, random: Random) -> Found | None:
    place = one(random, params(spec))
    if place is None:
        return None
    function, param = place
    path = f"function {function['name']}({param['name']})"
    rename(function["params"], param, "newcomer")
    return {("parameter-renamed", path)}


def crossing(param: Item) -> tuple[Any, ...]:
    """The C type of a parameter, as far as two of them can be exchanged."""
    return param["type"], param.get("direction", "in"), "array" in param, param.get("pointer", False)


def exchanged(spec: Item, random: Random, rule: str, *, alike: bool) -> Found | None:
    places = []
    for function in spec["functions"]:
        for at in range(len(function["params"]) - 1):
            first, second = function["params"][at : at + 2]
            if (crossing(first) == crossing(second)) is alike:
                places.append((function, at))
    place = one(random, iter(places))
    if place is None:
        return None
    function, at = place
    first, second = function["params"][at : at + 2]
    function["params"][at : at + 2] = second, first
    return {(rule, f"function {function['name']}({first['name']}, {second['name']})")}


@mutation
def parameters_swapped(spec: Item, random: Random) -> Found | None:
    return exchanged(spec, random, "parameters-swapped", alike=True)


@mutation
def parameters_reordered(spec: Item, random: Random) -> Found | None:
    return exchanged(spec, random, "parameters-reordered", alike=False)


def parameter_retyped(spec: Item, random: Random, types: dict[str, str], rule: str) -> Found | None:
    place = one(random, ((f, p) for f, p in params(spec) if by_value(p) and p["type"] in types))
    if place is None:
        return None
    function, param = place
    param["type"] = types[param["type"]]
    for key in ("default", "min", "max"):
        param.pop(key, None)
    return {(rule, f"function {function['name']}({param['name']})")}


@mutation
def parameter_width_changed(spec: Item, random: Random) -> Found | None:
    return parameter_retyped(spec, random, WIDER, "parameter-width-changed")


@mutation
def parameter_sign_changed(spec: Item, random: Random) -> Found | None:
    return parameter_retyped(spec, random, OTHER_SIGN, "parameter-sign-changed")


@mutation
def parameter_type_changed(spec: Item, random: Random) -> Found | None:
    return parameter_retyped(spec, random, OTHER_CLASS, "parameter-type-changed")


@mutation
def parameter_ownership_changed(spec: Item, random: Random) -> Found | None:
    place = one(random, ((f, p) for f, p in params(spec) if p.get("ownership") in ("borrowed", "transferred")))
    if place is None:
        return None
    function, param = place
    param["ownership"] = "borrowed" if param["ownership"] == "transferred" else "transferred"
    return {("parameter-ownership-changed", f"function {function['name']}({param['name']})")}


# --- callbacks and objects ---


@mutation
def callback_signature_changed(spec: Item, random: Random) -> Found | None:
    callback = one(random, iter(spec.get("callbacks", [])))
    if callback is None:
        return None
    callback["params"].insert(random.randint(0, len(callback["params"])), new_parameter())
    return {("callback-signature-changed", f"callback {callback['name']}")}


@mutation
def threads_narrowed(spec: Item, random: Random) -> Found | None:
    callback = one(random, (c for c in spec.get("callbacks", []) if c["thread"] == "caller"))
    if callback is None:
        return None
    callback["thread"] = "any"
    return {("threads-narrowed", f"callback {callback['name']}")}


@mutation
def release_function_changed(spec: Item, random: Random) -> Found | None:
    handle = one(random, iter(spec.get("handles", [])))
    if handle is None:
        return None
    handle["release"] = "newcomer"
    return {("release-function-changed", f"handle {handle['name']}")}
