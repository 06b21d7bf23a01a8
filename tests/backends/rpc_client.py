"""A client of RPC servers in a process of its own: python rpc_client.py MODELS ENDPOINT...

It generates ten tokens, says so, waits for a line, and generates on. The last line is what it saw, as JSON.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

from specbind import native
from specbind.harness import rpc
from specbind.harness.strategies import ALL, PROMPT
from specbind.native.paths import checkout


def main(models: Path, endpoints: list[str]) -> None:
    build = native.build(backend="rpc", latest=False)
    os.environ["LLAMA_SPECULATIVE_LIB"] = str(build.library)
    sys.path.insert(0, str(checkout() / "bindings_out" / "python" / "src"))
    import llama_speculative as binding

    lines: list[str] = []
    binding.set_log(lambda _, text: lines.append(text))
    rpc.register(build, endpoints)
    case = ALL["draft-simple"]
    with binding.Session(**case.options({path.stem: path for path in models.iterdir()})) as session:
        spec = session.speculative
        spec.set_limits(n_predict=case.n_predict)
        spec.prompt(PROMPT)
        tokens: list[int] = []
        waited = False
        while spec.decode() == 0:
            tokens += spec.accepted()
            if len(tokens) >= 10 and not waited:
                print("ready", flush=True)
                sys.stdin.readline()
                waited = True
        stats = spec.stats()
    servers = sorted(set(re.findall(r"RPC\d\[(\S+)\] model buffer size", "".join(lines))))
    print(json.dumps({"tokens": tokens, "drafted": stats.n_drafted, "accepted": stats.n_accepted, "servers": servers}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
