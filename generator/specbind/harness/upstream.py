"""llama.cpp's example program run on the same generation, and what it says of it."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from specbind.harness.decode import Allocations, DecodeProgram, Generation, Outcome, output
from specbind.native.errors import NativeError

# A field of the ABI's params -> the program's option.
OPTIONS = {
    "n_draft_max": "--spec-draft-n-max",
    "p_min": "--spec-draft-p-min",
    "ngram_simple_n": "--spec-ngram-simple-size-n",
    "ngram_simple_m": "--spec-ngram-simple-size-m",
    "ngram_map_k_n": "--spec-ngram-map-k-size-n",
    "ngram_map_k_m": "--spec-ngram-map-k-size-m",
    "ngram_map_k4v_n": "--spec-ngram-map-k4v-size-n",
    "ngram_map_k4v_m": "--spec-ngram-map-k4v-size-m",
    "ngram_mod_n_match": "--spec-ngram-mod-n-match",
    "ngram_mod_n_min": "--spec-ngram-mod-n-min",
    "ngram_mod_n_max": "--spec-ngram-mod-n-max",
}
DECODED = re.compile(r"decoded +(\d+) tokens in +([\d.]+) seconds")
COUNT = r"{} += (\d+)"

TRIES = 10  # on a busy machine the program may end before its thread for the log has written the figures


class UpstreamLoop:
    """The example program. It stops after the round that passes the limit, so it emits a few tokens more than asked for."""

    def __init__(self, program: Path) -> None:
        self.program = program

    def command(self, g: Generation, prompt_file: Path) -> list[str]:
        draft = ["-md", str(g.draft)] if g.draft else []
        params = [text for name, value in g.params.items() for text in (OPTIONS[name], str(value))]
        return [
            str(self.program), "-m", str(g.model), *draft, "--spec-type", g.strategies, *params, "-f", str(prompt_file), "-n", str(g.n_predict - 1),
            "-t", str(g.n_threads), "-td", str(g.n_threads), "--temp", "0", "-c", "2048", "-ngl", "0",
        ]  # fmt: skip

    def run(self, g: Generation) -> Outcome:
        for _ in range(TRIES):
            with tempfile.TemporaryDirectory() as folder:
                said = output(self.command(g, self.prompt(g, Path(folder))), merge=True)
            decoded = DECODED.search(said)
            counts = [re.search(COUNT.format(name), said) for name in ("n_drafted", "n_accept")]
            if decoded and all(counts):
                drafted, accepted = (int(c[1]) for c in counts if c)
                return Outcome(int(decoded[1]), float(decoded[2]), drafted, accepted, int(decoded[1]) - accepted)
        raise NativeError(f"{self.program.name} printed no figures in {TRIES} runs. Its last line: {said.strip().splitlines()[-1:]}")

    def allocations(self, program: DecodeProgram, g: Generation) -> Allocations:
        with tempfile.TemporaryDirectory() as folder:
            return program.count(self.command(g, self.prompt(g, Path(folder))))

    def prompt(self, g: Generation, folder: Path) -> Path:
        path = folder / "prompt.txt"
        path.write_text(g.prompt + "\n", encoding="utf-8")  # the program drops a file's last newline
        return path
