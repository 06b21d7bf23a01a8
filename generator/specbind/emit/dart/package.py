"""The files of the Dart package."""

from __future__ import annotations

from pathlib import Path

from specbind.emit.core import FileMap, environment, notice
from specbind.emit.dart import raw
from specbind.emit.dart.naming import DartNaming
from specbind.emit.needs import require_identity
from specbind.spec import model as m

ROOT = "bindings_out/dart"
PACKAGE_FILES = ("pubspec.yaml", "analysis_options.yaml", ".gitignore", "README.md")
SOURCES = ("types", "functions", "layout", "library", "exceptions", "owners")


def render(spec: m.Spec) -> FileMap:
    """All files of this target."""
    require_identity(spec)
    naming = DartNaming(spec)
    env = environment(Path(__file__).parent / "templates")
    values = raw.values(spec, naming) | {
        "notice": notice(spec),
        "version": spec.version,
        "package": naming.package,
        "library": naming.c.library,
        "prefix": naming.c.prefix,
        "environment": naming.environment,
        "library_doc": raw.doc(spec.doc),
        "streaming": {"session_open", "session_tokenize", "session_start", "session_next"} <= {f.name for f in spec.functions},
    }
    files = {f"{ROOT}/{name}": env.get_template(f"{name}.jinja").render(values) for name in PACKAGE_FILES}
    files[f"{ROOT}/lib/{naming.package}.dart"] = env.get_template("package.dart.jinja").render(values)
    for name in SOURCES:
        files[f"{ROOT}/lib/src/{name}.dart"] = env.get_template(f"{name}.dart.jinja").render(values)
    if values["streaming"]:
        files[f"{ROOT}/example/stream.dart"] = env.get_template("stream.dart.jinja").render(values)
    return files
