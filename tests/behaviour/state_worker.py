"""Another process that goes on from saved states: one JSON request a line, one JSON answer a line.

usage: state_worker.py BINDING MODELS INCLUDE_DIRS LIB_DIR FOLDER, where MODELS is a JSON object of paths by name
"""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from specbind.harness.llama import Llama
from specbind.harness.own_loop import own_loop
from specbind.harness.strategies import ALL, OWN_CONTEXTS


def main() -> None:
    sys.path.insert(0, sys.argv[1])
    import llama_speculative as binding

    models = {name: Path(path) for name, path in json.loads(sys.argv[2]).items()}
    llama = Llama(Path(sys.argv[4]), tuple(map(Path, json.loads(sys.argv[3]))), Path(sys.argv[5]))
    for line in sys.stdin:
        request = json.loads(line)
        case = (ALL | OWN_CONTEXTS)[request["case"]]
        opened: AbstractContextManager[Any]
        if case.contexts:
            opened = own_loop(binding, llama, models, case, **request["contexts"])
        else:
            opened = binding.Session(**case.options(models), n_seq_max=2)
        with opened as session:
            spec = session.speculative
            status = spec.load(Path(request["state"]).read_bytes(), 1)
            tokens: list[int] = []
            while len(tokens) < request["n"]:
                assert spec.decode() == 0
                tokens += spec.accepted(1)
            stats = spec.stats()
        print(json.dumps({"status": status.name, "tokens": tokens, "drafted": stats.n_drafted, "accepted": stats.n_accepted}), flush=True)


if __name__ == "__main__":
    main()
