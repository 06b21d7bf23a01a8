"""CONTRIBUTING.md names files and commands that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
# folders that short paths in the text are below
FOLDERS = (ROOT, ROOT / "generator" / "specbind", ROOT / "generator" / "specbind" / "spec")


def test_every_path_that_it_names_exists() -> None:
    named = set(re.findall(r"`((?:[\w.-]+/)+[\w.-]*)", TEXT)) | set(re.findall(r"\btests/[\w./]*\w", TEXT))
    assert len(named) > 25
    missing = [path for path in sorted(named) if "xx" not in path and not any((folder / path).exists() for folder in FOLDERS)]
    assert missing == []


def test_every_command_that_it_names_exists() -> None:
    from specbind.cli import COMMANDS

    named = set(re.findall(r"(?:`|^|&& )specbind ([a-z]+)", TEXT, re.MULTILINE))
    assert len(named) > 4
    assert named <= set(COMMANDS)


def test_it_has_a_recipe_for_each_kind_of_extension_and_each_ends_in_a_proof() -> None:
    recipes = {section.split("\n", 1)[0]: section for section in TEXT.split("\n## ")[1:]}
    assert {"Add a language", "Add a type to the spec language", "Add a diagnostic", "Add a rule of the gate", "Add a case for all languages"} <= set(recipes)
    assert [title for title, section in recipes.items() if "Proof: `pytest tests/" not in section] == []
