"""The files of the Python package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from specbind.emit.c.naming import CNaming
from specbind.emit.calls import is_housekeeping
from specbind.emit.core import FileMap, environment, notice
from specbind.emit.python import raw, values
from specbind.spec import model as m

ROOT = "bindings_out/python"

MODULES = (
    "__init__.py", "_raw.py", "_library.py", "_enums.py", "_results.py", "_text.py", "_build_api.py", "errors.py", "spec.py", "session.py",
)  # fmt: skip


def render(spec: m.Spec) -> FileMap:
    """All files of this target."""
    env = environment(Path(__file__).parent / "templates")
    naming = CNaming(spec)
    package = naming.library
    shared = {
        "notice": notice(spec),
        "package": package,
        "distribution": package.replace("_", "-"),
        "environment": naming.macro("LIB"),
        **raw.raw_values(spec),
        "enums": values.enum_values(spec),
        "errors": values.errors(spec),
        "results": values.results(spec),
        "spec_keywords": values.keywords(spec, "params"),
        "session_keywords": values.keywords(spec, "session_params"),
    }
    folder = f"{ROOT}/src/{package}"
    files = {f"{folder}/{name}": env.get_template(f"{name}.jinja").render(shared) for name in MODULES}
    files[f"{folder}/py.typed"] = ""
    for name in ("pyproject.toml", "README.md"):
        files[f"{ROOT}/{name}"] = env.get_template(f"{name}.jinja").render(shared)
    return files


def raw_only(spec: m.Spec, files: FileMap) -> Iterator[m.Function]:
    """Functions that the safe modules, which are written by hand, do not call."""
    raw_files = ("_raw.py", "_build_api.py")
    safe = "".join(text for path, text in files.items() if path.endswith(".py") and not path.endswith(raw_files))
    yield from (f for f in spec.functions if f'"{f.name}"' not in safe and not is_housekeeping(spec, f))
