"""An imported header as a file: a reviewable statement of a C library's ABI, and the old side of a later comparison.

It is the model field by field without what is at its default. Sizes of C types stand once, by the type's name; those that
are not listed are as large as a pointer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any

from specbind.cheader import Imported
from specbind.cheader.errors import HeaderError
from specbind.cheader.sizes import pointer
from specbind.layout.targets import TARGETS
from specbind.spec import model as m

FORMAT = 1
POINTER = {target.name: pointer(target) for target in TARGETS.values()}

SECTIONS: dict[str, Any] = {
    "constants": m.Constant, "foreign": m.ForeignType, "handles": m.Handle, "enums": m.Enum, "callbacks": m.Callback,
    "structs": m.Struct, "functions": m.Function,
}  # fmt: skip
PARTS: dict[tuple[Any, str], Any] = {
    (m.Enum, "values"): m.EnumValue,
    (m.Struct, "fields"): m.Field,
    (m.Callback, "params"): m.Param,
    (m.Function, "params"): m.Param,
}
# What a part has that the file does not mention, where the model has no default.
EMPTY: dict[str, Any] = {
    "doc": "", "since": "", "group": "", "returns": None, "passing": m.Passing.VALUE, "lifetime": "", "thread": "any",
    "release": "", "threads": "one", "last_error": None, "prefix": "", "growable": False, "params": (),
}  # fmt: skip

Sizes = dict[str, Mapping[str, tuple[int, int]]]


# --- writing ---


def dump(imported: Imported, form: str) -> str:
    """The file, as `yaml` or `json`."""
    data = plain(imported)
    if form == "json":
        return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    import yaml

    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        pass

    def text(dumper: Any, value: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    Dumper.add_representer(str, text)
    head = f"# The ABI of {data['library']['header']}, written by `specbind import`; `specbind diff` compares it with others.\n"
    return head + yaml.dump(data, Dumper=Dumper, sort_keys=False, default_flow_style=None, width=130, allow_unicode=True)


def plain(imported: Imported) -> dict[str, Any]:
    """Everything as mappings, lists, texts and numbers."""
    spec = imported.spec
    header = spec.source.replace("\\", "/").rsplit("/", 1)[-1]
    data: dict[str, Any] = {
        "imported": FORMAT,
        "library": {"name": spec.name, "prefix": spec.prefix, "version": spec.version, "header": header},
        "sizes": {name: shortest(each) for name, each in sorted(c_types(spec))},
    }
    data |= {section: [item(each) for each in getattr(spec, section)] for section in SECTIONS}
    return data | {"left_out": [each._asdict() for each in imported.left_out]}


def item(value: Any) -> dict[str, Any]:
    """One item or part without places and defaults."""
    found = {}
    for each in fields(value):
        content = getattr(value, each.name)
        default = EMPTY.get(each.name) if each.default is MISSING else each.default
        if each.name == "span" or content == default:
            continue
        if isinstance(content, m.Scalar | m.Str | m.Pointer | m.Ref):
            content = type_text(content)
        elif isinstance(content, m.Passing):
            content = content.value
        elif isinstance(content, tuple):
            content = [item(part) for part in content]
        found[each.name] = content
    return found


def type_text(kind: m.Type) -> str:
    return f"{kind.kind} {kind.name}" if isinstance(kind, m.Ref) else kind.name


def c_types(spec: m.Spec) -> Iterator[tuple[str, Mapping[str, tuple[int, int]]]]:
    """C types that are not as large as a pointer, by name; they may come more than once."""
    called: tuple[m.Function | m.Callback, ...] = (*spec.functions, *spec.callbacks)
    kinds: list[m.Type | None] = [field.type for struct in spec.structs for field in struct.fields]
    kinds += [param.type for each in called for param in each.params] + [each.returns for each in called]
    for kind in kinds:
        if isinstance(kind, m.CType) and kind.sizes and kind.sizes != POINTER:
            yield kind.name, kind.sizes


def shortest(sizes: Mapping[str, tuple[int, int]]) -> Any:
    """Size and alignment once if they are the same everywhere, else for each target."""
    places = {target: list(place) for target, place in sizes.items()}
    first: Any = next(iter(places.values()), [])
    return first if all(place == first for place in places.values()) else places


# --- reading ---


def load_text(text: str, file: str) -> m.Spec:
    """The ABI in a file, or HeaderError."""
    import yaml

    try:
        data = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # JSON is YAML too
        if data["imported"] != FORMAT:
            raise HeaderError(f"{file} has format {data['imported']}; this version reads {FORMAT}. Import the header again.")
        return restored(data, file)
    except (yaml.YAMLError, ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise HeaderError(f"{file} is not whole: write it anew with `specbind import`. ({what})") from None


def restored(data: dict[str, Any], file: str) -> m.Spec:
    library = data["library"]
    sizes: Sizes = {name: spread(each) for name, each in data["sizes"].items()}
    sections: dict[str, Any] = {
        section: tuple(restore(kind, each, sizes, file) for each in data[section]) for section, kind in SECTIONS.items()
    }
    return m.Spec(
        name=library["name"], prefix=library["prefix"], version=library["version"], doc="", groups=(), source=file, **sections
    )


def restore(kind: Any, data: dict[str, Any], sizes: Sizes, file: str) -> Any:
    """An item or part from its mapping. Its place is the file, for a place in the header is not known any more."""
    values: dict[str, Any] = {"span": m.Span(file, 1, 1)}
    for each in fields(kind):
        if each.name not in data:
            if each.default is MISSING and each.name in EMPTY:
                values[each.name] = EMPTY[each.name]
            continue
        content = data[each.name]
        if each.name in ("type", "returns"):
            content = read_type(content, sizes)
        elif each.name == "passing":
            content = m.Passing(content)
        elif isinstance(content, list):
            content = tuple(restore(PARTS[kind, each.name], part, sizes, file) for part in content)
        values[each.name] = content
    return kind(**values)


def read_type(text: str, sizes: Sizes) -> m.Type:
    if text in m.SCALARS:
        return m.SCALARS[text]
    if text in ("str", "pointer"):
        return m.Str() if text == "str" else m.Pointer()
    kind, _, name = text.partition(" ")
    return m.CType("c", name, sizes.get(name, POINTER)) if kind == "c" else m.Ref(kind, name)


def spread(sizes: Any) -> Mapping[str, tuple[int, int]]:
    """The opposite of `shortest`."""
    if isinstance(sizes, list):
        return {target: (sizes[0], sizes[1]) for target in TARGETS}
    return {target: (place[0], place[1]) for target, place in sizes.items()}
