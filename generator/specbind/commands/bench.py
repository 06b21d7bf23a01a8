"""`specbind bench`: what is measured, each subject in its own module."""

from __future__ import annotations

import click

from specbind.cli import LazyGroup, Table

SUBJECTS: Table = {
    "decode": ("bench_decode", "Plain decoding, llama.cpp's own loop and this library, alternating in one run."),
    "generate": ("bench_generate", "Start-up, lint and generation, and how they grow with the spec."),
    "languages": ("bench_languages", "The same generation from C and from every language, alternating in one run."),
}


@click.group(cls=LazyGroup, table=SUBJECTS)
def command() -> None:
    """Measure speed. Machines are shared and noisy, so every subject reports ratios from one run."""
