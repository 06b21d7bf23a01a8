"""Write a checkpoint of train.py as a GGUF of architecture mimo2, its tokenizer inside.

usage: export.py WORK OUT.gguf [--type f16|f32|q8_0]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import gguf
import gguf.quants
import numpy as np
import torch

ARCHITECTURE = "mimo2"
FILE_TYPES = {
    "f16": gguf.LlamaFileType.MOSTLY_F16,
    "f32": gguf.LlamaFileType.ALL_F32,
    "q8_0": gguf.LlamaFileType.MOSTLY_Q8_0,
}
DESCRIPTION = (
    "Tiny English language model with 3 chained Multi-Token-Prediction (NextN) heads, trained from scratch on CPU on the "
    "King James Bible and Jane Austen's novels (public domain). Made for testing speculative decoding (draft-mtp); "
    "not useful as a language model."
)
SOURCES = (
    "King James Version (Debian bible-kjv-text 4.38; public domain)",
    "Jane Austen, six novels (Debian r-cran-janeaustenr 1.0.0; public domain)",
)


def describe(w: gguf.GGUFWriter, n_parameters: int, file_type: str) -> None:
    w.add_type("model")
    w.add_name("tiny-mtp")
    w.add_basename("tiny-mtp")
    w.add_version("1.0")
    w.add_size_label(f"{n_parameters / 1e6:.1f}M")
    w.add_description(DESCRIPTION)
    w.add_license("cc0-1.0")
    w.add_license_name("CC0 1.0 Universal")
    w.add_license_link("https://creativecommons.org/publicdomain/zero/1.0/")
    w.add_tags(["tiny", "test", "multi-token-prediction", "nextn", "speculative-decoding"])
    w.add_languages(["en"])
    w.add_dataset_count(len(SOURCES))
    for i, source in enumerate(SOURCES):
        w.add_dataset_name(i, source)
    w.add_file_type(FILE_TYPES[file_type])
    w.add_quantization_version(gguf.GGML_QUANT_VERSION)


def architecture(w: gguf.GGUFWriter, c: dict[str, Any]) -> None:
    w.add_vocab_size(c["n_vocab"])
    w.add_context_length(c["n_ctx"])
    w.add_embedding_length(c["n_embd"])
    w.add_block_count(c["n_layer"] + c["n_mtp"])
    w.add_feed_forward_length(c["n_ff"])
    w.add_expert_feed_forward_length(c["n_ff"])  # a required key, though there are no experts
    w.add_head_count(c["n_head"])
    w.add_head_count_kv(c["n_head_kv"])
    w.add_key_length(c["head_size"])
    w.add_value_length(c["head_size"])
    w.add_layer_norm_rms_eps(c["eps"])
    w.add_rope_dimension_count(c["head_size"])
    w.add_rope_freq_base(c["rope_base"])
    w.add_float32(f"{ARCHITECTURE}.rope.freq_base_swa", c["rope_base"])
    w.add_sliding_window(c["window"])
    w.add_array(f"{ARCHITECTURE}.attention.sliding_window_pattern", [bool(x) for x in c["windowed"]])
    w.add_uint32(f"{ARCHITECTURE}.nextn_predict_layers", c["n_mtp"])


def tokenizer(w: gguf.GGUFWriter, path: Path, n_vocab: int) -> None:
    model = json.loads(path.read_text(encoding="utf-8"))["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    if len(tokens) != n_vocab:
        raise SystemExit(f"{path} has {len(tokens)} tokens, but the checkpoint was trained on {n_vocab}.")
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("gpt-2")
    w.add_token_list(tokens)
    w.add_token_types([gguf.TokenType.CONTROL] + [gguf.TokenType.NORMAL] * (n_vocab - 1))
    w.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in model["merges"]])
    w.add_bos_token_id(0)
    w.add_eos_token_id(0)
    w.add_pad_token_id(0)
    w.add_add_bos_token(False)
    w.add_add_eos_token(False)
    w.add_add_space_prefix(False)


def tensors(c: dict[str, Any], weights: dict[str, Any]) -> dict[str, Any]:
    """GGUF names in the order of the file. The tied output is stored twice, since the architecture wants it."""
    out = {
        "token_embd": weights["token_embd.weight"],
        "output": weights["token_embd.weight"],
        "output_norm": weights["output_norm.weight"],
    }
    for i in range(c["n_layer"] + c["n_mtp"]):
        k = i - c["n_layer"]
        source = f"blk.{i}" if k < 0 else f"mtp.{k}.block"
        for name in ("attn_norm", "attn_qkv", "attn_output", "ffn_norm", "ffn_down"):
            out[f"blk.{i}.{name}"] = weights[f"{source}.{name}.weight"]
        out[f"blk.{i}.ffn_gate"], out[f"blk.{i}.ffn_up"] = np.split(weights[f"{source}.ffn_gate_up.weight"], 2)
        if k >= 0:
            for name in ("eh_proj", "enorm", "hnorm", "shared_head_norm"):
                out[f"blk.{i}.nextn.{name}"] = weights[f"mtp.{k}.{name}.weight"]
    return out


def put(w: gguf.GGUFWriter, name: str, values: Any, file_type: str) -> None:
    """Vectors stay in single precision."""
    values = np.ascontiguousarray(values, dtype=np.float32)
    if values.ndim == 2 and file_type == "q8_0":
        kind = gguf.GGMLQuantizationType.Q8_0
        w.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
    else:
        w.add_tensor(name, values.astype(np.float16) if values.ndim == 2 and file_type == "f16" else values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--type", choices=FILE_TYPES, default="f16")
    given = parser.parse_args()

    checkpoint = torch.load(given.work / "checkpoint.pt", map_location="cpu", weights_only=True)
    config, weights = checkpoint["config"], {name: t.float().numpy() for name, t in checkpoint["model"].items()}
    writer = gguf.GGUFWriter(given.out, ARCHITECTURE)
    describe(writer, sum(v.size for v in weights.values()), given.type)
    architecture(writer, config)
    tokenizer(writer, given.work / "tokenizer.json", config["n_vocab"])
    for name, values in tensors(config, weights).items():
        put(writer, f"{name}.weight", values, given.type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    print(f"{given.out}: {given.out.stat().st_size} bytes, step {checkpoint['step']}")


if __name__ == "__main__":
    main()
