"""All files of a spec, from all back ends or some, made once for each state of the spec and of this package."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from specbind import cache
from specbind.emit.core import FileMap, NotExpressible, backends

KIND = "generated"


class UnknownBackend(Exception):
    """There is no back end of this name; the text says which there are."""


class Target(NamedTuple):
    """What one back end made. `folders` are those in which generated files that it did not make are stale."""

    name: str
    folders: Sequence[str]
    files: FileMap


def render(path: Path, languages: Sequence[str] = (), prefix: str | None = None) -> list[Target]:
    """All files of the spec at `path`. Raises SpecError, NotExpressible or UnknownBackend."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        text = None  # reading it as a spec says what is wrong
    if text is None:
        return rendered(path, languages, prefix)
    name = cache.key(state(), path.name, text, repr(sorted(languages)), repr(prefix))
    known = cache.recall(KIND, name)
    if known is not None:
        return [Target(*row) for row in json.loads(known)]
    made = rendered(path, languages, prefix)
    cache.keep(KIND, name, json.dumps(made).encode())
    return made


def state() -> str:
    """A hash of all code that has a part in the output: this package, back ends elsewhere, and the template engine."""
    import specbind.emit as package

    engine = find_spec("jinja2")
    folders = [Path(engine.origin).parent] if engine and engine.origin else []
    return cache.code([*folders, *list(package.__path__)[1:]])


def rendered(path: Path, languages: Sequence[str], prefix: str | None) -> list[Target]:
    """Check the spec with the back ends that are asked for, and let them render it."""
    from specbind.emit import report
    from specbind.emit.c.naming import with_prefix
    from specbind.spec.load import load

    chosen = backends()
    if unknown := [name for name in languages if name not in chosen]:
        raise UnknownBackend(f"{unknown[0]}: there is no such back end. There are: {', '.join(chosen)}.")
    if languages:
        chosen = {name: chosen[name] for name in chosen if name in languages}
    spec = load(path, chosen.values())
    if prefix is not None:
        spec = with_prefix(spec, prefix)
    made = []
    for name, backend in chosen.items():
        try:
            made.append(Target(name, backend.folders, backend.render(spec)))
        except NotExpressible as error:
            raise NotExpressible(f"{backend.title} cannot express this: {error}") from None
    if not languages:
        made.append(Target("report", (), report.render(spec, chosen, {target.name: target.files for target in made})))
    return made
