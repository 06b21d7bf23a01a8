"""Models that were trained: their text is that of plain decoding, and drafts are accepted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TINY_MTP = ROOT / "tests" / "models" / "tiny-mtp" / "tiny-mtp-f16.gguf"

# The prompts of the model's card: six of our own, and openings of chapters that were held out of the training.
PROMPTS = (
    "And it came to pass",
    "And the LORD spake unto Moses, saying,",
    "Behold, I say unto you, that",
    "She was very much surprised, and",
    "My dear Miss Elizabeth,",
    "In the morning the king arose and went",
    "And Elijah the Tishbite, who was of the inhabitants of Gilead, said unto Ahab, As the LORD God of Israel liveth,",
    "And Samuel said unto all Israel, Behold, I have hearkened unto your voice in all that ye said unto me,",
    "Lord, thou hast been our dwelling place in all generations.\nBefore the mountains were brought forth,",
    "Mrs. Jennings was a widow with an ample jointure. She had only two daughters, both of whom",
    "The remainder of Anne's time at Uppercross, comprehending only two days, was spent entirely at the Mansion House;",
    "Harriet slept at Hartfield that night. For some weeks past she had been spending more than half her time there,",
)

# Accepted among drafted over twelve prompts of 128 tokens, from the model's card.
CARD = {1: 0.797, 2: 0.666, 3: 0.620}


@pytest.fixture(scope="module")
def smollm2() -> Path:
    from specbind.models import smollm2

    return smollm2()


def answer(binding: Any, model: Path, prompt: str, n_predict: int, **options: Any) -> tuple[str, Any]:
    with binding.Session(model, n_ctx=512, n_threads=1, **options) as session:
        text = "".join(p.text for p in session.generate(prompt, n_predict=n_predict))
        return text, session.result


@pytest.mark.parametrize("strategy", ["ngram-simple", "ngram-map-k"])
def test_smollm2_says_the_same_and_accepts_drafts(binding: Any, smollm2: Path, strategy: str) -> None:
    prompt = "Count: 1, 2, 3, 4, 5, 6, 7, 8. Again: 1, 2, 3, 4, 5, 6, 7, 8. Again: 1, 2,"
    options = {"ngram_simple_n": 3, "ngram_simple_m": 8, "ngram_map_k_n": 3, "ngram_map_k_m": 8}
    plain, _ = answer(binding, smollm2, prompt, 40)
    text, result = answer(binding, smollm2, prompt, 40, strategies=strategy, **options)
    assert result.n_accepted > 0, f"{strategy} drafted {result.n_drafted} tokens and SmolLM2 accepted none"
    assert text[:60] == plain[:60]
    assert len(plain) >= 60


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_mtp_says_the_same_and_accepts_as_its_card_says(binding: Any, n: int) -> None:
    drafted = accepted = 0
    with (
        binding.Session(TINY_MTP, n_ctx=512, n_threads=1) as plain,
        binding.Session(TINY_MTP, n_ctx=512, n_threads=1, strategies="draft-mtp", n_draft_max=n) as session,
    ):
        for prompt in PROMPTS:
            expected = "".join(p.text for p in plain.generate(prompt, n_predict=128))
            assert "".join(p.text for p in session.generate(prompt, n_predict=128)) == expected
            drafted += session.result.n_drafted
            accepted += session.result.n_accepted
    assert abs(accepted / drafted - CARD[n]) < 0.03, f"{accepted} of {drafted}"


@pytest.mark.parametrize("n", [1, 3])
def test_tiny_mtp_sampled_with_a_seed_is_what_plain_decoding_samples(binding: Any, n: int) -> None:
    options = {"temperature": 0.8, "seed": 7}
    plain, _ = answer(binding, TINY_MTP, PROMPTS[0], 100, **options)
    text, result = answer(binding, TINY_MTP, PROMPTS[0], 100, strategies="draft-mtp", n_draft_max=n, **options)
    assert text == plain
    assert 0.1 < result.n_accepted / result.n_drafted < 0.8


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from specbind.cli import main; main()", "demo", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "COLUMNS": "100"}, check=False)


def test_the_demo_shows_what_was_accepted(build: Any, smollm2: Path) -> None:
    result = demo("--n-predict", "24", "--threads", "1")
    assert result.returncode == 0, result.stderr
    assert "[class]" in result.stdout or "][" in result.stdout, "accepted tokens are not marked"
    assert result.stdout.count("times the speed of plain decoding; the text is the same.") == 2
    assert "drafted" in result.stdout and "acceptance" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "nowhere.gguf"], "cannot open 'nowhere.gguf': No such file or directory"),
        (["--model", "README.md"], "'README.md' is not a GGUF file"),
        (["--strategies", "telepathy", "--model", str(TINY_MTP)], "'telepathy' is not a strategy; known are none, auto, ngram-simple"),
    ],
)
def test_the_demo_ends_with_one_message(build: Any, arguments: list[str], message: str) -> None:
    result = demo(*arguments)
    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr and len(result.stderr.strip().splitlines()) == 1


def test_a_draft_of_another_vocabulary_is_one_message(build: Any, models: dict[str, Path]) -> None:
    result = demo("--model", str(models["target-llama"]), "--draft", str(models["draft-llama-bigvocab"]), "--strategies", "draft-simple")
    assert result.returncode == 1
    assert "the target has 64 tokens and the draft 264" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
