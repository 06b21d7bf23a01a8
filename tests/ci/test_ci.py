"""What CI runs exists: every command line in the action, the workflow, the hooks and the guide is one that specbind takes."""

from __future__ import annotations

import re
import shlex
from itertools import takewhile
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from specbind.cli import main

ROOT = Path(__file__).resolve().parents[2]
CI = ROOT / "ci"
FILES = {
    "action": CI / "action.yml",
    "workflow": CI / "workflow-example.yml",
    "matrix": CI / "build-matrix.yml",
    "hooks": ROOT / ".pre-commit-hooks.yaml",
    "guide": ROOT / "docs" / "ci.md",
}


def read(name: str) -> Any:
    return yaml.safe_load(FILES[name].read_text(encoding="utf-8"))


def scripts() -> dict[str, list[str]]:
    """Shell text by file."""
    steps = [*read("action")["runs"]["steps"], *read("workflow")["jobs"]["abi"]["steps"]]
    action = len(read("action")["runs"]["steps"])
    runs = [step.get("run", "") for step in steps]
    guide = FILES["guide"].read_text(encoding="utf-8")
    return {
        "action": runs[:action],
        "workflow": runs[action:],
        "matrix": [step.get("run", "") for job in read("matrix")["jobs"].values() for step in job["steps"]],
        "hooks": [hook["entry"] for hook in read("hooks")],
        "guide": [*re.findall(r"```sh\n(.*?)```", guide, re.DOTALL), *re.findall(r"`(specbind [^`]+)`", guide)],
    }


def command_lines(text: str) -> list[list[str]]:
    """Words of every call of specbind, up to where the shell takes over."""
    joined = text.replace("\\\n", " ")
    return [shlex.split(line) for line in re.findall(r"^\s*(specbind .*?)(?=\s*(?:\|\||&&|;|$))", joined, re.MULTILINE)]


CALLS = [(name, words) for name, texts in scripts().items() for text in texts for words in command_lines(text)]


@pytest.mark.parametrize(("name", "words"), CALLS, ids=[f"{name}: {' '.join(words)[:60]}" for name, words in CALLS])
def test_a_command_line_is_one_that_specbind_takes(name: str, words: list[str]) -> None:
    command = main.get_command(click.Context(main), words[1])
    assert command is not None, f"{FILES[name]}: there is no `specbind {words[1]}`"
    known = {option: parameter for parameter in command.params for option in parameter.opts}
    for word in takewhile(lambda word: word != "--", words[2:]):
        if word.startswith("-"):
            assert word in known, f"{FILES[name]}: `specbind {words[1]}` has no {word}"
    assert "Usage:" in command.get_help(click.Context(command, info_name=words[1]))


def test_each_file_runs_what_it_is_for() -> None:
    called = {name: {words[1] for other, words in CALLS if other == name} for name in FILES}
    assert called == {
        "action": {"lint", "generate", "diff", "build", "check"},
        "workflow": {"lint", "generate", "diff", "build", "check"},
        "matrix": {"build", "test"},
        "hooks": {"lint", "generate", "diff"},
        "guide": {"lint", "generate", "diff", "check"},
    }


def test_the_action_declares_what_its_steps_use() -> None:
    action = read("action")
    text = FILES["action"].read_text(encoding="utf-8")
    assert set(re.findall(r"inputs\.(\w+)", text)) == set(action["inputs"])
    assert set(re.findall(r"steps\.(\w+)\.", text)) == {step["id"] for step in action["runs"]["steps"] if "id" in step}
    assert action["runs"]["using"] == "composite"
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "text from outside reaches a shell through a variable only"
    assert all(f"`{name}`" in FILES["guide"].read_text(encoding="utf-8") for name in [*action["inputs"], *action["outputs"]])


def test_hooks_have_what_pre_commit_demands_and_stand_where_it_looks() -> None:
    hooks = read("hooks")
    guide = FILES["guide"].read_text(encoding="utf-8")
    for hook in hooks:
        assert {"id", "name", "entry", "language", "files"} <= set(hook)
        assert re.compile(hook["files"])
        assert f"- id: {hook['id']}" in guide
    assert (CI / "pre-commit-hooks.yaml").read_bytes() == FILES["hooks"].read_bytes()
    matched = {hook["id"]: bool(re.search(hook["files"], "abi/llama_speculative.yaml")) for hook in hooks}
    assert all(matched.values())


def test_the_shell_of_the_action_is_shell(tmp_path: Path) -> None:
    import shutil
    import subprocess

    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is missing: apt install bash")
    for name in ("action", "workflow"):
        for script in scripts()[name]:
            done = subprocess.run([bash, "-n"], input=re.sub(r"\$\{\{.*?\}\}", "x", script), capture_output=True, text=True)
            assert done.stderr == ""


def test_the_diff_step_of_the_action_writes_reports_and_fails_with_the_gates_code(tmp_path: Path) -> None:
    import os
    import shutil
    import subprocess
    import sysconfig

    if shutil.which("bash") is None:
        pytest.skip("bash is missing: apt install bash")
    (step,) = [step for step in read("action")["runs"]["steps"] if step.get("id") == "diff"]
    pair = ROOT / "tests" / "diff" / "fixtures" / "parameters-swapped"
    env = {
        **os.environ,
        "PATH": os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]]),
        "OLD": str(pair / "old.yaml"), "NEW": str(pair / "new.yaml"), "REPORTS": "out",
        "GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }  # fmt: skip
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", step["run"]], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 5, done.stderr
    assert (tmp_path / "output").read_text(encoding="utf-8") == "verdict=meaning break\n"
    assert "## 🟣 ABI: meaning break" in (tmp_path / "summary").read_text(encoding="utf-8")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["abi.json", "abi.md", "abi.sarif", "abi.xml"]
