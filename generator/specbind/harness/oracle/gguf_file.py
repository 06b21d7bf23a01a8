"""A model as a value, and the one place that writes it to a file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from specbind.harness.oracle.cycle import BOS, CONTROL, EOS, MASK, N_VOCAB, UNK, VOCABULARY
from specbind.harness.oracle.linear import HEAD, ROPE_BASE, WIDTH, Array, ones, zeros

N_FF = 32
N_CTX_TRAIN = 4096

_CONTROL_TYPE, _NORMAL_TYPE = 3, 1  # of tokenizer.ggml.token_type


@dataclass
class Model:
    """What goes into a GGUF. Keys in `metadata` without a dot get the architecture in front."""

    arch: str
    metadata: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, Array] = field(default_factory=dict)

    def block(self, i: int, **tensors: Array) -> None:
        """Weights of block `i`: `attn_q=...` becomes `blk.i.attn_q.weight`."""
        for name, tensor in tensors.items():
            self.tensors[f"blk.{i}.{name}.weight"] = tensor

    def weights(self, **tensors: Array) -> None:
        """Weights outside the blocks: `output=...` becomes `output.weight`."""
        for name, tensor in tensors.items():
            self.tensors[f"{name}.weight"] = tensor


def transformer(arch: str, n_blocks: int, *, n_head: int = 1, n_ff: int = N_FF, n_vocab: int = N_VOCAB) -> Model:
    """A model of this architecture with the metadata that all of ours share, and no tensors yet."""
    return Model(
        arch,
        {
            "context_length": N_CTX_TRAIN,
            "embedding_length": WIDTH,
            "block_count": n_blocks,
            "feed_forward_length": n_ff,
            "attention.head_count": n_head,
            "attention.head_count_kv": 1,
            "attention.key_length": HEAD,
            "attention.value_length": HEAD,
            "attention.layer_norm_rms_epsilon": 1e-6,
            "rope.freq_base": ROPE_BASE,
            "rope.dimension_count": HEAD,
            **tokenizer(n_vocab),
        },
    )


def tokenizer(n_vocab: int) -> dict[str, Any]:
    """Byte-level BPE without merges that matter: each byte of a text is one token. Tokens beyond ours are never produced."""
    pieces = [*VOCABULARY.pieces, *(f"<extra{i}>" for i in range(n_vocab - N_VOCAB))]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": pieces,
        "tokenizer.ggml.token_type": [_CONTROL_TYPE if i < len(CONTROL) else _NORMAL_TYPE for i in range(n_vocab)],
        "tokenizer.ggml.merges": ["<unk> <unk>"],
        "tokenizer.ggml.bos_token_id": BOS,
        "tokenizer.ggml.eos_token_id": EOS,
        "tokenizer.ggml.unknown_token_id": UNK,
        "tokenizer.ggml.mask_token_id": MASK,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.add_eos_token": False,
    }


def idle_ffn(n_ff: int = N_FF) -> dict[str, Array]:
    """A feed-forward part that adds nothing."""
    return {"ffn_gate": zeros(n_ff, WIDTH), "ffn_up": zeros(n_ff, WIDTH), "ffn_down": zeros(WIDTH, n_ff)}


def plain_norms(*names: str) -> dict[str, Array]:
    """Norms with all weights 1."""
    return {name: ones(WIDTH) for name in names}


def write(model: Model, path: Path, *, half: bool = False) -> None:
    """Write `model` to `path`, replacing it at once. `half` stores matrices as f16."""
    import gguf

    partial = path.with_name(path.name + ".part")
    writer = gguf.GGUFWriter(str(partial), model.arch)
    writer.add_name(path.stem)
    for key, value in model.metadata.items():
        _add(writer, key if key.startswith("tokenizer.") else f"{model.arch}.{key}", value)
    for name, tensor in model.tensors.items():
        writer.add_tensor(name, _stored(name, tensor, half))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.replace(partial, path)


def _stored(name: str, tensor: Array, half: bool) -> Any:
    """Convolution kernels and vectors stay f32: llama.cpp computes with them directly."""
    small = half and tensor.ndim > 1 and "conv1d" not in name
    return np.ascontiguousarray(tensor, np.float16 if small else np.float32)


def _add(writer: Any, key: str, value: Any) -> None:
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        writer.add_array(key, value)
