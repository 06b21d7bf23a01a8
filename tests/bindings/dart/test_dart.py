"""The Dart package: no Dart SDK is to be had on every machine, so that its text is read and compared with the spec.

With an SDK, `dart analyze` and `dart format` have the last word.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import pytest

from specbind.emit.dart.naming import KEYWORDS, RESERVED, DartNaming, camel
from specbind.emit.dart.raw import Types
from specbind.layout.engine import compute
from specbind.layout.signature import canonical, fnv1a64
from specbind.layout.targets import TARGETS
from specbind.spec.load import load

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "bindings_out" / "dart"
SPEC = load(ROOT / "abi" / "llama_speculative.yaml")
NAMING = DartNaming(SPEC)

# Bytes of the native types, in place of sizeOf.
SIZES = {"Int8": 1, "Uint8": 1, "Int16": 2, "Uint16": 2, "Int32": 4, "Uint32": 4, "Int64": 8, "Uint64": 8, "Float": 4, "Double": 8,
         "Size": 8, "Pointer": 8}  # fmt: skip


def source(name: str) -> str:
    return (PACKAGE / "lib" / "src" / f"{name}.dart").read_text(encoding="utf-8")


def blocks(text: str, opening: str) -> dict[str, str]:
    """Bodies of classes by name: `opening` is a pattern with the name in its group, up to the bracket that ends at the margin."""
    return {found[1]: found[2] for found in re.finditer(opening + r" \{\n(.*?)^\}", text, re.DOTALL | re.MULTILINE)}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.dart")), ids=lambda path: path.stem)
def test_the_text_is_dart(path: Path) -> None:
    parse(path)


def test_names_that_are_words_of_the_language_and_another_prefix_parse(
    varied: Any, render: Callable[[Any, str, Path], Path], tmp_path: Path
) -> None:
    for path in sorted(render(varied, "dart", tmp_path).rglob("*.dart")):
        parse(path)


def parse(path: Path) -> None:
    tree_sitter = pytest.importorskip("tree_sitter", reason="pip install tree-sitter tree-sitter-dart-orchard")
    grammar = pytest.importorskip("tree_sitter_dart_orchard", reason="pip install tree-sitter tree-sitter-dart-orchard")
    tree = tree_sitter.Parser(tree_sitter.Language(grammar.language())).parse(path.read_bytes())
    assert not tree.root_node.has_error, first_error(tree.root_node)


def first_error(node: Any) -> str:
    if node.type == "ERROR" or node.is_missing:
        return f"line {node.start_point[0] + 1}: {node.text.decode()[:80]}"
    return next((first_error(child) for child in node.children if child.has_error or child.is_missing), "")


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.dart")), ids=lambda path: path.stem)
def test_brackets_are_balanced_outside_of_texts_and_comments(path: Path) -> None:
    text = re.sub(r"//[^\n]*|'(?:\\.|\$\{[^}]*\}|[^'\\])*'", "", path.read_text(encoding="utf-8"))
    open_: list[str] = []
    for sign in re.findall(r"[()\[\]{}]", text):
        if sign in "([{":
            open_.append(sign)
        else:
            assert open_ and open_.pop() + sign in ("()", "[]", "{}"), f"{sign} without its opening"
    assert not open_


def test_structs_have_the_layout_of_the_spec() -> None:
    classes = blocks(source("types"), r"final class (\w+) extends ffi\.Struct")
    layouts = compute(SPEC, TARGETS["x86_64-linux"])
    assert list(classes) == [NAMING.type(s.name) for s in SPEC.structs]
    for struct in SPEC.structs:
        declared = re.findall(r"(?:@ffi\.(\w+)\(\)\n\s*)?external (ffi\.Pointer<.+>|int|double) (\w+);", classes[NAMING.type(struct.name)])
        assert [name for _, _, name in declared] == [camel(f.name) for f in struct.fields]
        offset = 0
        for (annotation, seen, _), place in zip(declared, layouts[struct.name].fields, strict=True):
            assert seen.startswith("ffi.Pointer<") != bool(annotation), "a number has an annotation, a pointer has none"
            size = SIZES[annotation or "Pointer"]
            offset = -(-offset // size) * size
            assert (offset, size) == (place.offset, place.size), f"{struct.name}.{place.name}"
            offset += size


def test_every_function_is_looked_up_with_the_signature_of_the_spec() -> None:
    text = re.sub(r"\s+", "", source("functions"))
    types = Types(NAMING)
    for function in SPEC.functions:
        native = [types.parameter(p) for p in function.params]
        comma = "," if f"({','.join(native)},)" in text else ""  # behind the last one where each has its line
        expected = f"{types.returns(function)}Function({','.join(native)}{comma}),".replace(" ", "")
        found = re.search(rf"lookupFunction<([^;]*?)>\('{SPEC.prefix}{function.name}'\)", text)
        assert found and found[1].startswith(expected), function.name
        assert len(function.params) == native_count(found[1])


def native_count(types: str) -> int:
    """Number of parameters of the first of two function types."""
    inside, depth, count = types[types.index("Function(") + 9 :], 0, 0
    current = ""
    for sign in inside:
        if sign == ")" and depth == 0:
            return count + bool(current)
        depth += (sign in "<(") - (sign in ">)")
        if sign == "," and depth == 0:
            count, current = count + bool(current), ""
        else:
            current += sign
    raise AssertionError("the signature does not end")


def test_the_load_time_check_knows_every_field_constant_and_signature() -> None:
    text = source("layout")
    for struct in SPEC.structs:
        body = re.search(rf"'{struct.name}',\n\s+ffi\.sizeOf<(\w+)>\(\),\n\s+growable: (\w+),\n(.*?)\n    \}},", text, re.DOTALL)
        assert body and body[1] == NAMING.type(struct.name) and body[2] == str(struct.growable).lower()
        assert re.findall(r"'(\w+)': \(p\)", body[3]) == [f.name for f in struct.fields]
    for enum in SPEC.enums:
        for value in enum.values:
            assert f"('{enum.name}', '{value.name}'): {value.value}," in text
    for function in SPEC.functions:
        assert f"'{function.name}': '{fnv1a64(canonical(SPEC, function)):016x}'," in text


@pytest.mark.parametrize(("probe", "code", "size"), [("12.078431129455566", "<f", 4), ("2261634.5098039214", "<d", 8)])
def test_a_probe_changes_every_byte_of_its_field(probe: str, code: str, size: int) -> None:
    import struct

    assert all(struct.pack(code, float(probe))) and len(struct.pack(code, float(probe))) == size
    assert f"= {probe}," in source("layout") or size == 8


def test_each_error_status_has_an_exception() -> None:
    text = source("exceptions")
    for value in SPEC.status.values:
        if value.value < 0:
            name = NAMING.exception(value)
            assert f"{value.value} => {name}._(status, function, message)," in text
            assert f"final class {name} extends SpeculativeException" in text


def test_no_identifier_is_a_word_of_the_language() -> None:
    for name in ("switch", "default", "hash_code", "in", "late"):
        assert camel(name) not in KEYWORDS | RESERVED
    declared = re.findall(r"external \S+ (\w+);|static const int (\w+) =", source("types"))
    assert declared and not {a or b for a, b in declared} & (KEYWORDS | RESERVED)


def test_everything_public_has_a_comment() -> None:
    for name in ("types", "functions", "library", "exceptions", "owners"):
        lines = source(name).splitlines()
        for before, line in pairwise(lines):
            member = re.match(r"  (?:late final|final|external|static const|factory) [^_]*\b([a-z]\w*)(?: =|;|\()", line)
            public = re.match(r"(?:final class|abstract final class|class|typedef|const int) [A-Za-z]", line) or member
            if public and "override" not in before and not re.search(r" _\w+[;(= ]", line):
                assert before.lstrip().startswith(("///", "@ffi")), f"{name}: {line.strip()}"


def test_analyzer_and_formatter_have_nothing_to_say(tmp_path: Path, missing: Callable[[str], NoReturn]) -> None:
    if shutil.which("dart") is None:
        missing("Dart")
    copy = tmp_path / "dart"
    shutil.copytree(PACKAGE, copy)
    for command in (["pub", "get"], ["analyze", "--fatal-infos"], ["format", "--set-exit-if-changed", "--output=none", "."]):
        done = subprocess.run(["dart", *command], cwd=copy, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
