"""From a spec, the shim and a tree to a series of patches and the proposal's text, all in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from specbind.emit.c import header, package
from specbind.emit.c.naming import CNaming
from specbind.emit.core import environment
from specbind.propose import driver, edits, steps, text
from specbind.propose.edits import Reader
from specbind.propose.errors import ProposeError
from specbind.propose.patches import Patch, file_name, mail
from specbind.propose.shim import HEADER, Shim, library_files, read_shim
from specbind.spec import model as m

TEMPLATES = steps.TEMPLATES
AUTHOR = "Your Name <you@example.com>"


def tree_reader(root: Path) -> Reader:
    """Files of a tree on disk."""

    def read(path: str) -> str | None:
        try:
            return (root / path).read_bytes().decode("utf-8")
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return None
        except UnicodeDecodeError:
            raise ProposeError(f"{path}: the file is not UTF-8.") from None

    return read


def shim_of(spec: m.Spec, native: Path) -> Shim:
    """The shim of a checkout, its generated part made from `spec` and not read from the disk."""
    made = package.render(spec)
    generated = {Path(path).name: text for path, text in made.items() if path.startswith("native/generated/")}
    return read_shim(native, generated, CNaming(spec).header)


@dataclass(frozen=True)
class Plan:
    """The series before it meets a tree, and what it makes public."""

    steps: tuple[steps.Step, ...]
    public: tuple[driver.Public, ...]


def planned(spec: m.Spec, shim: Shim) -> Plan:
    """The steps, in order. Raises ProposeError where the shim has something that no rule names."""
    parts = driver.split(shim)
    files = library_files(shim, driver.library_parts(parts))
    values = {**header.header_values(spec), "prefix": spec.prefix, "files": [*files, HEADER]}
    env = environment(TEMPLATES)
    fixed = [(name, env.get_template(f"{name}.jinja").render(**values)) for name in (HEADER, "CMakeLists.txt", "llama-speculative.map")]
    made = (
        steps.hidden_rows(),
        steps.mtp_state(),
        steps.limits(parts),
        steps.per_sequence(parts),
        steps.library([*fixed, *files.items()]),
        steps.example(text.readme(spec)),
        steps.inside_llama(),
    )
    return Plan(made, parts.public)


def patches(plan: Plan, read: Reader) -> list[Patch]:
    """The steps as changes of the tree that `read` reads, one upon the other. Raises ProposeError."""
    made: list[Patch] = []
    changed: dict[str, str] = {}
    for step in plan.steps:
        files = edits.apply(step.edits, edits.layered(read, changed))
        changed |= {path: new for path, (_, new) in files.items()}
        made.append(Patch(step.subject, step.body, files))
    return made


def texts(made: Sequence[Patch], author: str = AUTHOR) -> dict[str, str]:
    """The patch files by name."""
    return {file_name(patch, i): mail(patch, i, len(made), author) for i, patch in enumerate(made, 1)}
