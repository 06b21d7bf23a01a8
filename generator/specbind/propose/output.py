"""The series on disk: all of it or nothing, and nothing of an earlier one left between."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from specbind.propose.errors import ProposeError

OURS = re.compile(r"\d{4}-.*\.patch|proposal\.md")


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Put the files into `folder`. A folder that holds anything else is refused, and replaced as a whole otherwise."""
    folder = folder.expanduser()
    if folder.exists():
        if not folder.is_dir():
            raise ProposeError(f"--output {folder}: there is a file of this name. Give a folder.")
        foreign = sorted(path.name for path in folder.iterdir() if not OURS.fullmatch(path.name))
        if foreign:
            raise ProposeError(f"--output {folder}: it holds {foreign[0]}, which is no part of a series. Give an empty or a new folder.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            for name, text in files.items():
                (temporary / name).write_text(text, encoding="utf-8", newline="\n")
            temporary.chmod(0o755)
            if folder.exists():
                shutil.rmtree(folder)
            os.replace(temporary, folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise ProposeError(f"--output {folder}: cannot write {error.filename}: {error.strerror}.") from None


def author(text: str) -> str:
    """`NAME <MAIL>`, as git wants it."""
    if not re.fullmatch(r"[^<>\n]+ <[^<>\s]+@[^<>\s]+>", text):
        raise ProposeError(f"--author {text}: give a name and a mail address, as in 'Ada Lovelace <ada@example.org>'.")
    return text
