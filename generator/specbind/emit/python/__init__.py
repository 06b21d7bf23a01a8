"""The Python back end: a cffi package with a raw layer that mirrors the ABI and a safe one for people."""

from __future__ import annotations

from pathlib import Path

from specbind.emit.core import FileMap, environment, notice
from specbind.emit.python import raw, values
from specbind.spec import model as m

ROOT = "bindings_out/python"
PACKAGE = f"{ROOT}/src/llama_speculative"

MODULES = (
    "__init__.py", "_raw.py", "_library.py", "_enums.py", "_results.py", "_text.py", "_build_api.py", "errors.py", "spec.py", "session.py",
)  # fmt: skip


class PythonBackend:
    name = "python"
    title = "Python"
    folders = (ROOT,)

    def render(self, spec: m.Spec) -> FileMap:
        env = environment(Path(__file__).parent / "templates")
        shared = {
            "notice": notice(spec),
            **raw.raw_values(spec),
            "enums": values.enum_values(spec),
            "errors": values.errors(spec),
            "results": values.results(spec),
            "spec_keywords": values.keywords(spec, "params"),
            "session_keywords": values.keywords(spec, "session_params"),
        }
        files = {f"{PACKAGE}/{name}": env.get_template(f"{name}.jinja").render(shared) for name in MODULES}
        files[f"{PACKAGE}/py.typed"] = ""
        for name in ("pyproject.toml", "README.md"):
            files[f"{ROOT}/{name}"] = env.get_template(f"{name}.jinja").render(shared)
        return files


backend = PythonBackend()
