"""What the tests of every language need: its toolchain, the library, the helper, and libraries that only look like it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def doctored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library in which two counters have changed places, so that its sizes are the real one's. Calling it ends the process."""
    from specbind.harness.doctored import compile_stub, with_fields_swapped
    from specbind.spec.load import load

    spec = load(ROOT / "abi" / "llama_speculative.yaml")
    return compile_stub(with_fields_swapped(spec, "counters", "n_drafted", "n_accepted"), tmp_path_factory.mktemp("doctored"))


@pytest.fixture(scope="session")
def environment(build: Any, models: dict[str, Path], llama: Any, doctored: Path) -> dict[str, str]:
    """Variables for programs of other languages."""
    from specbind.harness.oracle.cycle import NEXT

    return {
        **os.environ,
        "LLAMA_SPECULATIVE_LIB": str(build.library),
        "LLAMA_SPECULATIVE_HELPER": str(llama.path),
        "LLAMA_SPECULATIVE_OTHER": str(build.lib_dir / "libggml-base.so"),  # without the functions, even where libllama has them
        "LLAMA_SPECULATIVE_DOCTORED": str(doctored),
        "LLAMA_SPECULATIVE_MODELS": str(next(iter(models.values())).parent),
        "LLAMA_SPECULATIVE_NEXT": " ".join(map(str, NEXT)),
    }


@pytest.fixture(scope="session")
def cache() -> Iterator[Path]:
    """Folder for what compilers keep from run to run: outside the checkout, one per checkout, and one run's at a time."""
    from specbind.native.lock import locked
    from specbind.native.paths import cache_dir, digest
    from specbind.native.progress import Silent

    folder = cache_dir() / "bindings" / digest(str(ROOT))
    with locked(folder, Silent()):
        yield folder


@pytest.fixture(scope="session")
def varied() -> Any:
    """The ABI under another prefix with one thing more of each kind, whose names are words of some language."""
    from dataclasses import replace

    from specbind.emit.c.naming import with_prefix
    from specbind.spec import model as m
    from specbind.spec.load import load

    spec = load(ROOT / "abi" / "llama_speculative.yaml")
    i32, P = m.SCALARS["i32"], m.Passing

    def value(name: str, **facts: Any) -> m.Param:
        return m.Param(name, i32, P.VALUE, "Something.", **facts)

    peek = m.Function(
        "peek", "loop", returns=m.Ref("enum", "status"), doc="Looks at a sequence, see `seq_info`.", since="0.1.0",
        params=(
            m.Param("spec", m.Ref("handle", "spec"), P.VALUE, ""),
            value("seq_id", role="sequence"),
            value("type", unit="boolean"),
            m.Param("func", m.Str(), P.VALUE, "A text.", nullable=True),
            m.Param("data", m.SCALARS["u8"], P.ARRAY_IN, "Bytes.", array="n_data"),
            m.Param("n_data", m.SCALARS["size"], P.VALUE, "Their number."),
            m.Param("range", i32, P.SCALAR_OUT, "A number.", direction="out"),
            m.Param("self", m.Ref("enum", "finish"), P.SCALAR_OUT, "An enum.", direction="out"),
        ),
        results=("NOTHING",), errors=("ERROR_BUSY",), deprecated='Use "seq_info".',
    )  # fmt: skip
    fields = (
        m.Field("match", m.SCALARS["f32"], "A field.", "0.1.0", default=0.5, min=0.0, max=1.0),
        m.Field("loop", i32, "Another.", "0.1.0", default=1, min=0, max=1, unit="boolean"),
    )
    finish = spec.enum("finish")
    more = m.EnumValue("ABSTRACT", 77, "A value.", "0.1.0")
    return with_prefix(
        replace(
            spec,
            functions=(*spec.functions, peek),
            structs=tuple(replace(s, fields=s.fields + fields) if s.name == "params" else s for s in spec.structs),
            enums=tuple(replace(e, values=(*e.values, more)) if e is finish else e for e in spec.enums),
            _index={},
        ),
        "my_own_",
    )


@pytest.fixture(scope="session")
def render() -> Callable[[Any, str, Path], Path]:
    """`render(spec, language, folder)`: writes a binding below `folder`, where nothing else is, and returns its root."""
    from specbind.emit.core import backends

    def render(spec: Any, language: str, folder: Path) -> Path:
        for path, text in backends()[language].render(spec).items():
            file = folder / path
            if not file.is_file() or file.read_text(encoding="utf-8") != text:  # compilers look at times
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
        return folder / "bindings_out" / language

    return render


Run = Callable[..., str]


@pytest.fixture(scope="session")
def run_program(environment: Mapping[str, str]) -> Run:
    """`run_program(command, folder, env={...}, stdin=...)`: runs a program to its end and returns its standard output."""

    def program(command: list[str], folder: Path, env: Mapping[str, str] | None = None, stdin: str | None = None) -> str:
        done = subprocess.run(command, cwd=folder, env={**environment, **(env or {})}, input=stdin, capture_output=True, text=True)
        if done.returncode:
            said = "\n".join((done.stdout + done.stderr).splitlines()[-60:])
            pytest.fail(f"{' '.join(command)} ended with {done.returncode}:\n{said}", pytrace=False)
        return done.stdout

    return program


@pytest.fixture
def check_cases(models: dict[str, Path], request: pytest.FixtureRequest) -> Callable[[Callable[[str], str]], None]:
    """`check_cases(runner)`: gives every shared case to a runner, and fails with each difference.

    With SPECBIND_CASES it also appends what each case gave to that file, a line of JSON each, for `specbind test --matrix`.
    """
    from specbind.harness.cases import CASES, differences, load_cases, parse_observations, runner_input

    def check(runner: Callable[[str], str]) -> None:
        cases = {case.name: case for case in load_cases(CASES)}
        seen = parse_observations(runner(runner_input(list(cases.values()), models)))
        ran = [(o.name, o.layer) for o in seen]
        assert ran == [(c.name, layer) for c in cases.values() for layer in c.layers], "not every case ran once per layer"
        found = [(o, differences(cases[o.name], o)) for o in seen]
        if file := os.environ.get("SPECBIND_CASES"):
            variant = getattr(request.node, "callspec", None)  # one language on several runtimes
            language = request.node.path.parent.name + (f"-{variant.id}" if variant else "")
            with open(file, "a", encoding="utf-8") as out:
                out.writelines(
                    json.dumps({"language": language, "case": o.name, "layer": o.layer, "wrong": texts}) + "\n" for o, texts in found
                )
        wrong = [f"{o.name}, {o.layer}: {text}" for o, texts in found for text in texts]
        assert not wrong, "\n".join(wrong)

    return check
