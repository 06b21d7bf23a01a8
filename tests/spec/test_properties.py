"""What must hold for any spec and for any text; SPECBIND_FUZZ_EXAMPLES sets how many are tried."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from random_specs import broken_texts, valid_specs

from specbind.emit.c import backend as c_backend
from specbind.emit.core import backends
from specbind.layout.engine import compute, gaps
from specbind.layout.signature import canonical, spec_hash
from specbind.layout.targets import TARGETS
from specbind.spec.codes import codes
from specbind.spec.diagnostics import as_json, render
from specbind.spec.load import check_source
from specbind.spec.source import make_source

ASKED = int(os.environ.get("SPECBIND_FUZZ_EXAMPLES", "0"))
CODES = set(codes())
LANGUAGES = tuple(backends().values())
calm = settings(
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    deadline=None,
    database=None,
    derandomize=not ASKED,
    suppress_health_check=list(HealthCheck),
)


def as_yaml(values: dict[str, Any]) -> str:
    """JSON is YAML in which no text can be taken for a number."""
    return json.dumps(values, ensure_ascii=False, indent=1)


@settings(calm, max_examples=ASKED or 400)
@given(broken_texts())
def test_no_text_makes_a_traceback(text: str) -> None:
    source = make_source("broken.yaml", text)
    spec, found = check_source(source, LANGUAGES)
    assert (spec is None) == bool(found)
    lines = len(source.starts)
    for diagnostic in found:
        assert diagnostic.code in CODES
        assert 1 <= diagnostic.span.line <= lines
        assert 1 <= diagnostic.span.column <= len(source.line(diagnostic.span.line)) + 1
        assert diagnostic.message
    assert render(found).count("error[") == len(as_json(found)) == len(found)
    if spec is not None:
        assert len(spec_hash(spec)) == 16
        for target in TARGETS.values():
            assert [gap for layout in compute(spec, target).values() for gap in gaps(layout)] == []


@settings(calm, max_examples=ASKED or 60)
@given(valid_specs())
def test_a_valid_spec_has_no_mistakes_and_a_signature_for_every_function(values: dict[str, Any]) -> None:
    text = as_yaml(values)
    spec, found = check_source(make_source("made.yaml", text), [c_backend])
    assert spec is not None, render(found)
    assert [f.name for f in spec.functions] == [f["name"] for f in values["functions"]]
    assert [[f.name for f in s.fields] for s in spec.structs] == [[f["name"] for f in s["fields"]] for s in values["structs"]]
    for function in spec.functions:
        assert canonical(spec, function).count("(") >= 1


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is missing: apt-get install gcc")
@settings(calm, max_examples=min(ASKED, 2000) or 10)
@given(valid_specs())
def test_the_header_of_a_valid_spec_compiles_and_has_the_computed_layout(values: dict[str, Any]) -> None:
    spec, found = check_source(make_source("made.yaml", as_yaml(values)))
    assert spec is not None, render(found)
    header = next(text for path, text in c_backend.render(spec).items() if path.startswith("native/include/"))
    lines = ["#include <stddef.h>", header]
    for name, layout in compute(spec, TARGETS["x86_64-linux"]).items():
        c_name = spec.prefix + name
        lines.append(f'_Static_assert(sizeof({c_name}) == {layout.size}, "size of {name}");')
        lines += [f'_Static_assert(offsetof({c_name}, {f.name}) == {f.offset}, "offset of {f.name}");' for f in layout.fields]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "made.c")
        path.write_text("\n".join(lines), encoding="utf-8")
        done = subprocess.run(
            ["gcc", "-m64", "-std=c11", "-Wall", "-Werror", "-fsyntax-only", path], capture_output=True, text=True
        )
    assert done.stderr == ""
    assert done.returncode == 0
