"""Train tiny-mtp on what corpus.py made.

Loss: cross entropy of the trunk, and for each head cross entropy against a mixture of the right token and the trunk's own
distribution, since a draft is accepted when it says what the trunk says.

usage: train.py WORK [--steps N] ...; writes WORK/checkpoint.pt and WORK/train.log
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from model import Config, TinyMtp
from torch import Tensor
from torch.nn import functional

SHORT, LONG = 256, 512  # tokens per row, at first and at the end
WARM_UP = 50  # steps
RIGHT_TOKEN = 0.5  # its share in the heads' target


def rows(path: Path, n_tokens: int, length: int, seed: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches of `n_tokens` tokens in rows of `length`, at random places: tokens, and the tokens after them."""
    data = np.fromfile(path, np.uint16).astype(np.int64)
    random = np.random.default_rng(seed)
    while True:
        starts = random.integers(0, len(data) - length - 1, n_tokens // length)
        both = torch.from_numpy(np.stack([data[i : i + length + 1] for i in starts]))
        yield both[:, :-1].contiguous(), both[:, 1:].contiguous()


@dataclasses.dataclass(frozen=True)
class Losses:
    trunk: Tensor
    heads: Tensor
    accuracy: Tensor  # of the trunk
    agreement: Tensor  # of each head with the trunk: the acceptance to hope for


def losses(model: TinyMtp, tokens: Tensor, following: Tensor, n_rows: int | None = None) -> Losses:
    trunk, heads = model(tokens, n_rows)
    trunk, right = trunk.flatten(0, 1).float(), following.flatten()
    log_probabilities = torch.log_softmax(trunk, -1)
    n = heads[0].shape[0] * heads[0].shape[1]
    with torch.no_grad():
        target = log_probabilities[:n].exp() * (1 - RIGHT_TOKEN)
        target.scatter_add_(1, right[:n, None], torch.full((n, 1), RIGHT_TOKEN))
        choice = trunk.argmax(-1)
        agreement = torch.stack([(h.flatten(0, 1).argmax(-1) == choice[:n]).float().mean() for h in heads])
    head_losses = torch.stack([functional.cross_entropy(h.flatten(0, 1).float(), target) for h in heads])
    trunk_loss = functional.nll_loss(log_probabilities, right)
    return Losses(trunk_loss, head_losses, (choice == right).float().mean(), agreement)


@torch.no_grad()
def evaluate(model: TinyMtp, path: Path, most: int | None = None, batch: int = 8) -> dict[str, Any]:
    """Means over the held-out text, or over `most` rows of it."""
    data = torch.from_numpy(np.fromfile(path, np.uint16).astype(np.int64))
    n = (len(data) - 1) // SHORT
    tokens, following = (data[i : i + n * SHORT].reshape(n, SHORT) for i in (0, 1))
    chosen = np.linspace(0, n - 1, most or n).astype(int)
    sums, count = torch.zeros(2 + 2 * model.c.n_mtp), 0
    for at in range(0, len(chosen), batch):
        some = chosen[at : at + batch]
        with torch.autocast("cpu", torch.bfloat16):
            found = losses(model, tokens[some], following[some])
        sums += len(some) * torch.cat([found.trunk[None], found.accuracy[None], found.heads, found.agreement])
        count += len(some)
    loss, accuracy, *rest = [round(v, 4) for v in (sums / count).tolist()]
    return {"loss": loss, "accuracy": accuracy, "head_loss": rest[: model.c.n_mtp], "head_agreement": rest[model.c.n_mtp :]}


def optimizers(model: TinyMtp, rate: float, matrix_rate: float) -> list[torch.optim.Optimizer]:
    """Muon for matrices, AdamW for embeddings and norms."""
    is_matrix = {name: p.ndim == 2 and "token_embd" not in name for name, p in model.named_parameters()}
    matrices = [p for name, p in model.named_parameters() if is_matrix[name]]
    others = [p for name, p in model.named_parameters() if not is_matrix[name]]
    return [
        torch.optim.Muon(matrices, lr=matrix_rate, momentum=0.95, weight_decay=0.1, ns_steps=4),
        torch.optim.AdamW(others, lr=rate, betas=(0.9, 0.98), weight_decay=0.0),
    ]


def save(model: TinyMtp, step: int, path: Path) -> None:
    temporary = path.with_suffix(".new")
    torch.save({"config": dataclasses.asdict(model.c), "model": model.state_dict(), "step": step}, temporary)
    os.replace(temporary, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--steps", type=int, default=2300)
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--rate", type=float, default=3e-3, help="learning rate of embeddings and norms")
    parser.add_argument("--matrix-rate", type=float, default=0.02, help="learning rate of matrices")
    parser.add_argument("--head-weight", type=float, default=0.2, help="weight of each head's loss")
    parser.add_argument("--half", type=float, default=0.6, help="share of the steps, at first, whose heads see half of each batch")
    parser.add_argument("--long", type=float, default=0.15, help="share of the steps, at the end, with rows of the full length")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()

    torch.manual_seed(given.seed)
    model = TinyMtp(Config())
    print(f"{sum(p.numel() for p in model.parameters())} parameters", flush=True)
    tools = optimizers(model, given.rate, given.matrix_rate)
    groups = [(group, group["lr"]) for tool in tools for group in tool.param_groups]
    batches = {n: rows(given.work / "train.bin", given.batch_tokens, n, given.seed + n) for n in (SHORT, LONG)}
    began = time.monotonic()
    with (given.work / "train.log").open("w", encoding="utf-8") as log:

        def say(text: str) -> None:
            print(text, flush=True)
            print(text, file=log, flush=True)

        for step in range(given.steps):
            # up, flat, and down in a line to nothing
            factor = min(1.0, (step + 1) / WARM_UP) * min(1.0, (given.steps - step) / (0.6 * given.steps))
            for group, rate in groups:
                group["lr"] = rate * factor
            tokens, following = next(batches[LONG if step >= given.steps * (1 - given.long) else SHORT])
            n_rows = tokens.shape[0] // 2 if step < given.half * given.steps else None
            with torch.autocast("cpu", torch.bfloat16):
                found = losses(model, tokens, following, n_rows)
                loss = found.trunk + given.head_weight * found.heads.sum()
            for tool in tools:
                tool.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for tool in tools:
                tool.step()
            if step % 25 == 24 or step == 0:
                heads = " ".join(f"{a:.3f}" for a in found.agreement.tolist())
                say(f"step {step + 1} {time.monotonic() - began:.0f} s loss {found.trunk.item():.3f} agreement {heads}")
            if step % 250 == 249 or step == given.steps - 1:
                save(model, step + 1, given.work / "checkpoint.pt")
                say("held out: " + json.dumps(evaluate(model, given.work / "val.bin", None if step == given.steps - 1 else 64)))


if __name__ == "__main__":
    main()
