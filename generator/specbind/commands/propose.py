"""`specbind propose`: the ABI as patches for a llama.cpp tree, and the text that explains them."""

from __future__ import annotations

from pathlib import Path

import click

EPILOG = """\b
Examples:
  specbind propose -o build/proposal                            against the pinned llama.cpp
  specbind propose --llama ../llama.cpp -o build/proposal
  specbind propose -o build/proposal --try /tmp/try             also apply, build and test every step

\b
Exit codes:
  0  written (and every step passed)
  1  the tree is another one than the series is for, or a step failed; nothing is written, or the log says which step
  2  wrong arguments, or a wrong spec
  130  interrupted
"""


@click.command(epilog=EPILOG)
@click.option("--llama", type=click.Path(path_type=Path), metavar="DIR", help="A llama.cpp source tree; default is the pinned one.")
@click.option("--output", "-o", "out", type=click.Path(path_type=Path), metavar="OUT", required=True, help="Folder for the series.")
@click.option("--author", default=None, metavar="'NAME <MAIL>'", help="Author of the patches; default is a placeholder.")
@click.option("--try", "trial", type=click.Path(path_type=Path), metavar="DIR", help="Apply, build and test the series in this folder.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Parallel compiler runs of --try; default is ninja's.")
def command(llama: Path | None, out: Path, author: str | None, trial: Path | None, jobs: int | None) -> None:
    """Write the ABI as a series of patches for llama.cpp itself."""
    from specbind.native import NativeError
    from specbind.native.paths import cache_dir, checkout
    from specbind.native.pin import load_pin
    from specbind.native.progress import for_stderr
    from specbind.native.source import pinned_tree, user_tree
    from specbind.propose import output, series, text
    from specbind.propose.errors import ProposeError
    from specbind.spec.load import load
    from specbind.spec.locate import SPEC

    progress = for_stderr()
    try:
        root = checkout()
        tree = user_tree(llama) if llama else pinned_tree(load_pin(root / "abi" / "llama_cpp.yaml"), cache_dir(), progress)
        spec = load(root / SPEC)
        plan = series.planned(spec, series.shim_of(spec, root / "native"))
        made = series.patches(plan, series.tree_reader(tree.path))
        patches = series.texts(made, output.author(author or series.AUTHOR))
        output.write(out, {**patches, "proposal.md": text.proposal(spec, plan.public, made, tree.commit)})
        for name in patches:
            click.echo(out / name)
        click.echo(out / "proposal.md")
        if trial:
            from specbind.propose.attempt import attempt

            folders = attempt(tree, plan.steps, [out / name for name in patches], trial, jobs, progress)
            click.echo("Every step passed. Test the libraries with")
            for folder in folders:
                click.echo(f"  SPECBIND_LIBRARY_DIR={folder} pytest tests/behaviour tests/bindings")
    except (NativeError, ProposeError) as error:
        click.echo(f"specbind propose: {error}", err=True)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
