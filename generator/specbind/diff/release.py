"""A release: the baseline of a spec is written if its version is as high as the changes since the last one demand."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from specbind.diff import waivers as exceptions
from specbind.diff.baseline import dump, load, newest
from specbind.diff.compare import compare
from specbind.diff.finding import Finding
from specbind.diff.sides import source_of
from specbind.diff.versions import required
from specbind.emit.output import Change, apply
from specbind.spec import model as m
from specbind.spec.locate import BASELINES, root, shown
from specbind.spec.version import number


class Refused(click.ClickException):
    """The version does not fit; the text says which would. A command that meets it exits with 1."""


def write(spec: m.Spec, waivers: Path | None) -> str:
    """Write the baseline of `spec` into the checkout; what was done, in words. Raises Refused."""
    folder = root() / BASELINES
    last = newest(folder)
    target = folder / f"{spec.version}.yaml"
    if last is not None:
        released, _ = load(source_of(last))
        known = waivers or (root() / exceptions.FILE if (root() / exceptions.FILE).is_file() else None)
        listed = exceptions.load(known) if known else ()
        findings, errors = exceptions.apply(compare(released, spec, documented=False), listed, date.today())
        if errors:
            raise Refused("\n".join(errors))
        if refusal := misfit(released.version, spec.version, findings):
            raise Refused(refusal)
        if spec.version == released.version:
            return f"{shown(target)} is there already, and nothing changed since."
    folder.mkdir(parents=True, exist_ok=True)
    apply(folder, Change(target.name, None, dump(spec)))
    return f"{shown(target)} written."


def misfit(released: str, version: str, findings: tuple[Finding, ...]) -> str:
    """Why `version` cannot follow `released` with these changes, empty if it can."""
    if number(version) < number(released):
        return f"the spec is at {version}, but {released} was released already."
    lowest = required(released, findings)
    if number(version) >= number(lowest):
        return ""
    worst = max((f for f in findings if f.waiver is None), key=lambda f: f.verdict)
    return (
        f"the changes since {released} demand version {lowest}, the spec is at {version}. The worst is a {worst.verdict.label}: "
        f"{worst.item}: {worst.message} [{worst.rule}]. `specbind diff --against-release` lists all."
    )
