"""What the README shows is what happens."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_the_ten_lines_of_python_run(binding: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from specbind.models import smollm2

    code = EXAMPLES[0].replace('"SmolLM2-135M-Instruct.gguf"', repr(str(smollm2()))).replace("n_predict=128", "n_predict=48")
    assert len(EXAMPLES[0].strip().splitlines()) <= 10
    exec(code, {})
    assert re.search(r"accepted \d+ of \d+ draft tokens \(\d+%\)", capsys.readouterr().out)


def test_the_primitives_example_handles_rejected_drafts(binding: Any, models: dict[str, Path], llama: Any) -> None:
    from specbind.harness.oracle.cycle import CYCLE, NEXT, run

    class Target:
        """The reader's own llama binding, as far as the example uses it."""

        def __init__(self) -> None:
            self.model = llama.model(models["target-llama"])
            self.context = llama.context(self.model)

        def decode(self, tokens: list[int], pos: int) -> None:
            llama.decode(self.context, tokens, pos)

        def argmax(self, index: int) -> int:
            return int(llama.argmax(self.context, index, 64))

        def remove_from(self, pos: int) -> None:
            llama.lib.helper_seq_rm(self.context, 0, pos, -1)

    prompt = run(NEXT, CYCLE[0], 24)
    target = Target()
    address = int(llama.ffi.cast("uintptr_t", target.context))
    params = {"strategies": "draft-simple", "n_draft_max": 8}
    draft_model = llama.model(models["draft-llama"])
    draft_address = binding.draft_context(address, draft_model, **params)
    with binding.Speculative(address, draft_address, **params) as spec:
        target.decode(prompt[:-1], 0)
        spec.process(prompt[:-1], pos=range(len(prompt) - 1))
        names: dict[str, Any] = {"spec": spec, "prompt": prompt, "target": target, "answer": []}
        exec(EXAMPLES[1], names)
        stats = spec.stats()
    assert names["answer"] == run(NEXT, NEXT[prompt[-1]], len(names["answer"]))
    assert 0 < stats.n_accepted < stats.n_drafted, "the example saw no rejected draft"
    llama.lib.llama_free(llama.ffi.cast("struct llama_context *", draft_address))


def test_the_pinned_llama_cpp_is_the_one_of_the_spec_folder() -> None:
    from specbind.native.pin import load_pin

    pin = load_pin(ROOT / "abi" / "llama_cpp.yaml")
    assert f"llama.cpp `{pin.short_commit}` (\"{pin.version}\")" in README


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + [d for extra in project["optional-dependencies"].values() for d in extra]
    named = [re.match(r"[A-Za-z0-9_-]+", d) for d in wanted]
    table = README[README.index("## Dependencies") :]
    assert [m[0] for m in named if m and not re.search(rf"\b{m[0]}\b", table)] == []
    assert all(re.search(r">=.*,<", d) for d in wanted)


def test_every_command_of_the_table_exists() -> None:
    from specbind.cli import COMMANDS

    table = README[README.index("## Commands") : README.index("## Dependencies")]
    assert set(re.findall(r"`(?:specbind )?([a-z]+)`", table)) == set(COMMANDS)
