"""What was generated before is found again, and never when anything that it was made from has changed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import specbind.emit
from specbind import cache
from specbind.cli import main
from specbind.emit import everything

ROOT = Path(__file__).resolve().parents[2]
YAML = (ROOT / "abi" / "llama_speculative.yaml").read_text(encoding="utf-8")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the test's own."""
    monkeypatch.setenv("SPECBIND_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "llama_speculative.yaml"
    path.write_text(YAML, encoding="utf-8")
    return path


def test_the_same_state_is_not_rendered_twice(kept: Path, spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = everything.render(spec, ("python",))
    with monkeypatch.context() as broken:
        broken.setattr(everything, "rendered", None)
        again = everything.render(spec, ("python",))
    assert [(t.name, list(t.folders), t.files) for t in again] == [(t.name, list(t.folders), t.files) for t in first]
    assert len(list((kept / "generated").iterdir())) == 1


@pytest.mark.parametrize(
    ("languages", "prefix", "text"),
    [
        (("c",), None, YAML),
        (("python",), "mine_spec_", YAML),
        (("python",), None, YAML + "# a comment\n"),
        (("python",), None, YAML.replace("No token.", "No token at all.")),
    ],
    ids=["language", "prefix", "comment", "text"],
)
def test_anything_else_is_rendered(kept: Path, spec: Path, languages: tuple[str, ...], prefix: str | None, text: str) -> None:
    everything.render(spec, ("python",))
    spec.write_text(text, encoding="utf-8")
    everything.render(spec, languages, prefix)
    assert len(list((kept / "generated").iterdir())) == 2


def test_the_state_is_that_of_every_file_of_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "more"
    (folder / "templates").mkdir(parents=True)
    monkeypatch.setattr(specbind.emit, "__path__", [*specbind.emit.__path__, str(folder)])
    states = [everything.state()]
    for name, text in (("toy.py", "1"), ("toy.py", "2"), ("templates/toy.jinja", "x"), ("templates/toy2.jinja", "x"), ("__pycache__", "x")):
        (folder / name).write_text(text)
        states.append(everything.state())
    assert len(set(states[:-1])) == 5
    assert states[-1] == states[-2], "what Python leaves there is no code"


def test_the_state_covers_this_package_and_the_template_engine() -> None:
    import jinja2

    assert cache.code() != cache.code([Path(jinja2.__file__).parent])
    read = []
    real = cache.add_files

    def listing(state: object, folder: str) -> None:
        read.append(Path(folder))
        real(state, folder)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "add_files", listing)
        everything.state()
    package = Path(cache.__file__).parent
    assert {package / "spec", package / "layout", package / "emit" / "go" / "templates", Path(jinja2.__file__).parent} <= set(read)


def test_a_damaged_entry_is_made_again(kept: Path, spec: Path) -> None:
    first = everything.render(spec, ("python",))
    (entry,) = (kept / "generated").iterdir()
    whole = entry.read_bytes()
    for damaged in (b"", whole[:-100], whole.replace(b"def ", b"fed ", 1), b"[]"):
        entry.write_bytes(damaged)
        assert [t.files for t in everything.render(spec, ("python",))] == [t.files for t in first]
        assert entry.read_bytes() == whole


def test_a_spec_with_a_mistake_is_never_kept(kept: Path, spec: Path) -> None:
    spec.write_text(YAML.replace("name: n_draft_max", "name: N_draft_max", 1), encoding="utf-8")
    for _ in range(2):
        assert CliRunner().invoke(main, ["lint", str(spec)]).exit_code == 1
    assert not kept.exists() or not any(kept.rglob("clean/*"))
    spec.write_text(YAML, encoding="utf-8")
    outputs = [CliRunner().invoke(main, ["lint", str(spec)]).output for _ in range(2)]
    assert outputs[0] == outputs[1] and "no mistakes (" in outputs[0]
    assert len(list((kept / "clean").iterdir())) == 1
    report = CliRunner().invoke(main, ["lint", str(spec), "--format", "json"]).output
    assert json.loads(report) == {"file": str(spec), "count": 0, "diagnostics": []}


def test_without_a_cache_that_can_be_written_everything_works(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECBIND_CACHE", str(spec))  # a file: no folder can be made in it
    assert [t.name for t in everything.render(spec, ("python",))] == ["python"]
    assert CliRunner().invoke(main, ["lint", str(spec)]).exit_code == 0


def test_only_so_many_entries_are_kept(kept: Path) -> None:
    for number in range(cache.KEPT + 5):
        cache.keep("some", cache.key(str(number)), b"x")
    assert len(list((kept / "some").iterdir())) == cache.KEPT


@pytest.mark.parametrize(
    ("command", "absent"),
    [
        (["--help"], {"yaml", "jinja2", "rich", "cffi", "clang", "jsonschema", "specbind.spec", "specbind.emit"}),
        (["generate", "--check"], {"yaml", "jinja2", "rich", "cffi", "clang", "jsonschema", "specbind.spec.model"}),
        (["lint"], {"yaml", "jinja2", "rich", "cffi", "clang", "jsonschema", "specbind.spec.model"}),
    ],
    ids=["start-up", "generate", "lint"],
)
def test_a_quick_command_loads_nothing_heavy(command: list[str], absent: set[str]) -> None:
    """In a process of its own; the second time, when the result is known."""
    code = (
        "import sys\nfrom specbind.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code, *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert absent & set(done.stderr.split()) == set()
