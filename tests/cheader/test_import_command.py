"""`specbind import` as its user meets it: files that are read again, and one clear message for what is wrong."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from specbind.cheader import import_header
from specbind.cheader.document import load_text
from specbind.cli import main
from specbind.spec import model as m

pytest.importorskip("clang.cindex", reason="libclang is missing: pip install libclang")

HEADER = """
#include <stdbool.h>
#include <stdint.h>
#define SHOP_OPEN 8
struct shop;
struct shop_price { int32_t amount; bool sale; char tag[5]; long since; };
// Why a shop is shut.
enum shop_reason { SHOP_REASON_NIGHT = 1, SHOP_REASON_HOLIDAY = -2 };
typedef bool (*shop_bell)(const struct shop * shop, void * user);
// Opens.
// "Really."
struct shop * shop_open(const char * name, const char ** tags, uint64_t * count, shop_bell bell);
void shop_free(struct shop * shop);
void shop_say(const char * format, ...);
static inline int shop_one(void) { return 1; }
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


@pytest.fixture
def header(tmp_path: Path) -> Path:
    path = tmp_path / "shop.h"
    path.write_text(HEADER)
    return path


def bare(item: Any) -> Any:
    """An item without places, which a file does not keep."""
    parts = {name: tuple(map(bare, getattr(item, name))) for name in ("values", "fields", "params") if hasattr(item, name)}
    return replace(item, span=m.NOWHERE, **parts)


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_file_says_all_that_the_header_said(header: Path, form: str) -> None:
    path = header.with_name(f"shop.{form}")
    done = run("import", header, "-o", path, "--format", form)
    assert done.exit_code == 0
    assert "3 functions, 1 structs, 1 enums, 1 callbacks, 1 constants" in done.output
    assert "left out: shop_one: " in done.output
    assert str(header.parent) not in path.read_text()
    read, again = import_header(header), load_text(path.read_text(), str(path))
    for section in ("constants", "foreign", "handles", "enums", "callbacks", "structs", "functions"):
        assert tuple(map(bare, getattr(read, section))) == tuple(map(bare, getattr(again, section))), section
    sizes = [f.type.sizes for f in again.struct("price").fields if isinstance(f.type, m.CType)]
    assert sizes == [f.type.sizes for f in read.struct("price").fields if isinstance(f.type, m.CType)]
    assert run("import", header, "--format", form).output.startswith(path.read_text())


def test_a_file_is_compared_with_a_later_header(header: Path) -> None:
    path = header.with_name("shop-1.yaml")
    run("import", header, "-o", path)
    assert run("diff", path, header).exit_code == 0
    later = header.with_name("shop-2.h")
    later.write_text(HEADER.replace("int32_t amount; bool sale;", "bool sale; int32_t amount;").replace("OPEN 8", "OPEN 9"))
    done = run("diff", path, later, "--format", "json")
    assert done.exit_code > 1
    assert '"field-reordered"' in done.output and '"constant-changed"' in done.output


def test_layout_takes_a_header_and_its_file(header: Path) -> None:
    path = header.with_name("shop.yaml")
    run("import", header, "-o", path)
    ours, theirs = (run("layout", each, "--format", "json").output.replace(str(each), "") for each in (header, path))
    assert ours == theirs
    assert '"name": "since",\n            "offset": 16,' in ours  # behind 4 + 1 + 5 bytes, at a multiple of 8
    assert '"name": "since",\n            "offset": 12,' in ours  # where long has 4 bytes


# --- what is wrong ---


def test_a_header_that_is_not_there_is_named() -> None:
    done = run("import", "nowhere.h")
    assert (done.exit_code, done.output) == (2, "Error: nowhere.h: No such file or directory. Give a C header.\n")


def test_clang_s_errors_are_shown_with_their_place(header: Path) -> None:
    header.write_text("struct shop_price { unknown amount; };\nint shop_open(void;\n")
    done = run("import", header, "-o", header.with_name("out.yaml"))
    assert done.exit_code == 2
    assert f"{header}:1:21: unknown type name 'unknown'" in done.output
    assert f"{header}:2:" in done.output
    assert not header.with_name("out.yaml").exists()


def test_a_header_that_ends_too_early_is_not_taken_for_empty(header: Path) -> None:
    header.write_text("struct shop_price {\n")
    done = run("import", header)
    assert done.exit_code == 2
    assert "at its end" in done.output


def test_an_include_that_is_not_found_says_how_to_give_its_folder(header: Path) -> None:
    header.write_text('#include "till.h"\n')
    done = run("import", header)
    assert done.exit_code == 2
    assert "'till.h' file not found" in done.output and "Name the folder that holds till.h with -I." in done.output
    (header.parent / "inc").mkdir()
    (header.parent / "inc" / "till.h").write_text("struct till;\n")
    assert run("import", header, "-I", header.parent / "inc").exit_code == 0


@pytest.mark.parametrize("text", ["imported: 1\n", "imported: 1\nlibrary: [\n", '{"imported": 1, "library": {}}'])
def test_a_damaged_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(text)
    done = run("layout", path)
    assert done.exit_code == 2
    assert "is not whole: write it anew with `specbind import`" in done.output


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text("imported: 7\n")
    assert "has format 7; this version reads 1" in run("layout", path).output


def test_without_libclang_the_message_says_how_to_install_it(header: Path) -> None:
    """In a process of its own, where the module cannot be imported."""
    code = "import sys; sys.modules['clang'] = None; from specbind.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "import", str(header)], capture_output=True, text=True)
    assert done.returncode == 2
    assert "libclang, which is missing: `pip install 'specbind[import]'`" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_compiler_s_headers_the_message_says_where_they_come_from(header: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    header.write_text("#include <stddef.h>\nsize_t shop_size(void);\n")
    done = run("import", header)
    if done.exit_code == 0:
        pytest.skip("this libclang brings its own headers")
    assert done.exit_code == 2
    assert "'stddef.h' file not found" in done.output
    assert "A C compiler brings the standard headers" in done.output


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("void shop_free(struct shop * shop)", "void shop_free(const struct shop * shop)", "parameter-const-added"),
        ("const struct shop * shop, void * user", "struct shop * shop, void * user", "parameter-const-dropped"),
        ("char tag[5]", "char tag[9]", "field-length-changed"),
        ("const char ** tags", "const char * tags", "parameter-type-changed"),
        ("bool sale;", "int32_t sale;", "field-type-changed"),
    ],
)
def test_a_change_that_only_c_types_show_is_found(header: Path, old: str, new: str, rule: str) -> None:
    later = header.with_name("later.h")
    later.write_text(HEADER.replace(old, new))
    assert later.read_text() != HEADER
    assert f'"{rule}"' in run("diff", header, later, "--format", "json").output
