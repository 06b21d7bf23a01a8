"""`specbind build`: llama.cpp and the shim, as far as they are not built yet."""

from __future__ import annotations

from pathlib import Path

import click

EPILOG = """\b
Examples:
  specbind build                            the pinned llama.cpp, for this machine's CPU
  specbind build --llama ../llama.cpp       a tree of yours
  specbind build --sanitize address,undefined --build-dir /tmp/asan

\b
Exit codes:
  0  built, or nothing to do
  1  the source cannot be had, a tool is missing, or something does not compile
  2  wrong arguments
  130  interrupted
"""


@click.command(epilog=EPILOG)
@click.option("--llama", type=click.Path(path_type=Path), metavar="DIR", help="A llama.cpp source tree; default is the pinned one.")
@click.option("--backend", default="cpu", show_default=True, metavar="NAME", help="A row of ci/backends.yaml.")
@click.option("--build-dir", type=click.Path(path_type=Path), metavar="DIR", help="Where the shim is built; default is the user's cache.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Parallel compiler runs; default is ninja's.")
@click.option("--sanitize", default="", metavar="LIST", help="As -fsanitize= takes it: address,undefined or thread.")
def command(llama: Path | None, backend: str, build_dir: Path | None, jobs: int | None, sanitize: str) -> None:
    """Get and build llama.cpp and the shim."""
    from specbind.native import NativeError, build
    from specbind.native.progress import for_stderr

    try:
        result = build(llama=llama, backend=backend, build_dir=build_dir, jobs=jobs, sanitize=sanitize, progress=for_stderr())
    except NativeError as error:
        click.echo(f"specbind build: {error}", err=True)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        click.echo("Interrupted; what was built so far is kept and goes on at the next call.", err=True)
        raise SystemExit(130) from None
    click.echo(result.library)
