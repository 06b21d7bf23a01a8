"""llama-cpp-python for real: its `Llama` makes model and contexts, this binding speculates on them, and both are one libllama.

Its Python code comes from the archive that llama.cpp was built from, so that the two agree on llama.h; its `lib` folder is
what was built here.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from specbind.harness.oracle.cycle import CYCLE, MISSES, NEXT, VOCABULARY, Target, by_attention, run, with_misses
from specbind.harness.oracle.expect import ModelDrafter, generation

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "bindings_out" / "python"
PROMPT = run(NEXT, CYCLE[0], 24)

LOOP = """
import ctypes, json, os, sys
from llama_cpp import Llama, llama_cpp
from llama_speculative import Library, Speculative, draft_context

target, draft, prompt = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
params = dict(strategies="draft-simple", n_draft_max=3)
options = dict(n_ctx=512, n_batch=64, n_threads=1, verbose=False)
llama = Llama(target, **options)
other = Llama(draft, **options)

made = draft_context(llama._ctx.ctx, other._model.model, **params)
emitted = []
with Speculative(llama._ctx.ctx, made, keep_alive=llama, **params) as spec:
    spec.set_limits(n_predict=64)
    spec.prompt(prompt)
    while spec.decode() == 0:
        emitted += spec.accepted()
    stats = spec.stats(0)
llama_cpp.llama_free(ctypes.cast(made, llama_cpp.llama_context_p_ctypes))

# the raw layer, with the same pointer
library = Library()
address = ctypes.cast(llama._ctx.ctx, ctypes.c_void_p).value
llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(llama._ctx.ctx), True)
raw = library.ffi.new("llama_speculative **")
context = library.ffi.cast("struct llama_context *", address)
status = library.lib.llama_speculative_init(context, library.ffi.NULL, library.defaults("params", "params_init"), raw)
library.lib.llama_speculative_free(raw[0])

# llama-cpp-python goes on with its own context
llama.reset()
llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(llama._ctx.ctx), True)
plain = [token for token, _ in zip(llama.generate(prompt, temp=0.0, top_k=1, repeat_penalty=1.0), range(64))]
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libllama.so" in line}
print(json.dumps(dict(emitted=emitted, plain=plain, drafted=stats.n_drafted, accepted=stats.n_accepted, raw=status,
                      llamas=sorted(map(os.path.realpath, loaded)))))
"""


@pytest.fixture(scope="module")
def site(build: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package `llama_cpp`, as an installation has it."""
    for name in ("diskcache", "typing_extensions"):
        pytest.importorskip(name, reason=f"pip install {name}, which llama-cpp-python needs")
    from specbind.native.paths import cache_dir
    from specbind.native.pin import load_pin
    from specbind.native.progress import Silent
    from specbind.native.source import sdist

    pin = load_pin(ROOT / "abi" / "llama_cpp.yaml")
    folder = tmp_path_factory.mktemp("site")
    prefix = pin.sdist.folder.split("/")[0] + "/"
    with tarfile.open(sdist(pin, cache_dir(), Silent())) as archive:
        for member in archive:
            if member.isfile() and member.name.startswith(prefix + "llama_cpp/"):
                path = folder / member.name.removeprefix(prefix)
                path.parent.mkdir(parents=True, exist_ok=True)
                source = archive.extractfile(member)
                assert source is not None
                path.write_bytes(source.read())
    (folder / "llama_cpp" / "lib").symlink_to(build.lib_dir)
    return folder


def python(site: Path, build: Any, code: str, *arguments: str) -> str:
    """Standard output of a program that has both packages."""
    paths = f"{site}:{PACKAGE / 'src'}"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True,
        env={"PYTHONPATH": paths, "LLAMA_SPECULATIVE_LIB": str(build.library), "HOME": str(site)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="what is loaded is read from /proc")
def test_contexts_of_llama_cpp_python_are_speculated_on(site: Path, build: Any, models: dict[str, Path]) -> None:
    said = python(site, build, LOOP, str(models["target-llama"]), str(models["draft-llama"]), json.dumps(PROMPT))
    seen = json.loads(said.splitlines()[-1])
    expected = generation(Target(NEXT, by_attention).next_token, [ModelDrafter((with_misses(NEXT, MISSES),), 3)], PROMPT, 64)
    assert seen["emitted"] == seen["plain"] == expected.tokens
    assert (seen["drafted"], seen["accepted"]) == (expected.drafted, expected.accepted)
    assert seen["raw"] == 0
    assert len(seen["llamas"]) == 1, "two libllamas in one process"


def test_the_example_of_the_readme_runs(site: Path, build: Any, models: dict[str, Path]) -> None:
    (code,) = [text for text in re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(), re.DOTALL) if "llama_cpp" in text]
    changes = {
        '"model.gguf", n_ctx=4096': f"{str(models['target-llama'])!r}, n_ctx=256, verbose=False",
        'b"Once upon a time"': repr(VOCABULARY.decode(PROMPT)),
    }
    for old, new in changes.items():
        assert old in code
        code = code.replace(old, new)
    answer = VOCABULARY.decode(run(NEXT, NEXT[PROMPT[-1]], 100)).decode()
    assert python(site, build, code).startswith(answer)
