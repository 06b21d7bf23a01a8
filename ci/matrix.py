"""ci/matrix.yaml for ci/build-matrix.yml: outputs of a step, or with `--slices` a line for each, name and CMake options."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]


def main(arguments: list[str]) -> None:
    rows = yaml.safe_load((ROOT / "ci" / "matrix.yaml").read_text(encoding="utf-8"))
    if arguments == ["--slices"]:
        for each in rows["slices"]:
            print(each["name"], each["cmake"], sep="\t")
        return
    pin = yaml.safe_load((ROOT / "abi" / "llama_cpp.yaml").read_text(encoding="utf-8"))
    print("targets=" + json.dumps(rows["targets"]))
    print("commit=" + pin["commit"])


if __name__ == "__main__":
    main(sys.argv[1:])
