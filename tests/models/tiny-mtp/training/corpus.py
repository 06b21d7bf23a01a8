"""Two public-domain texts and a tokenizer for tiny-mtp: the King James Bible and Jane Austen's novels, from Debian packages.

One document per chapter, every twentieth held out, the order shuffled with a fixed seed: the same every time.

usage: corpus.py WORK
"""

from __future__ import annotations

import json
import random
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

N_VOCAB = 1536
SEED = 1234
END = "<|endoftext|>"
HELD_OUT_EVERY, HELD_OUT_FIRST = 20, 7
SHORTEST_CHAPTER = 500  # characters; what is shorter is a heading or a dedication


@dataclass(frozen=True)
class Document:
    split: str  # train or val
    source: str
    text: str


def unpacked(package: str, work: Path) -> Path:
    """The files of a Debian package, fetched once."""
    folder = work / "packages" / package
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", package], cwd=folder.parent, check=True)
        archive = next(folder.parent.glob(f"{package}_*.deb"))
        subprocess.run(["dpkg-deb", "-x", archive, folder], check=True)
    return folder


def bible(work: Path) -> list[str]:
    """Chapters of the King James Version, one verse a line."""
    program = unpacked("bible-kjv", work) / "usr/bin/bible"
    data = unpacked("bible-kjv-text", work) / "usr/lib"
    printed = subprocess.run([program, "-p", data, "-f", "gen1:1-rev22:21"], capture_output=True, check=True).stdout.decode("latin-1")
    chapters: dict[tuple[str, str], list[str]] = {}
    for line in printed.splitlines():  # "1Sa3:12 text"
        verse = re.match(r"(\S+?)(\d+):\d+ (.*)", line)
        if verse:
            chapters.setdefault((verse[1], verse[2]), []).append(" ".join(verse[3].split()))
    return ["\n".join(verses) for verses in chapters.values()]


def r_character_vectors(data: bytes) -> Iterator[list[str]]:
    """The character vectors of an R data file: each a length, then a zlib stream with R's serialisation of one vector."""
    at = 0
    while at < len(data):
        stream = zlib.decompressobj()
        plain = stream.decompress(data[at + 4 :])
        at = len(data) - len(stream.unused_data)
        offset = plain.index(b"\x00\x00\x00\x10") + 4  # the type of a character vector
        (n,) = struct.unpack_from(">I", plain, offset)
        offset += 4
        lines = []
        for _ in range(n):  # flags, length, bytes
            (length,) = struct.unpack_from(">I", plain, offset + 4)
            lines.append(plain[offset + 8 : offset + 8 + length].decode("utf-8"))
            offset += 8 + length
        yield lines


def austen(work: Path) -> list[str]:
    """Chapters of the six novels, one paragraph a line pair, without headings and emphasis marks."""
    file = unpacked("r-cran-janeaustenr", work) / "usr/lib/R/site-library/janeaustenr/data/Rdata.rdb"
    chapters = []
    for lines in r_character_vectors(file.read_bytes()):
        text = re.sub(r"[ \t]+\n", "\n", "\n".join(lines))
        chapter: list[str] = []
        for paragraph in (" ".join(p.split()) for p in re.split(r"\n\s*\n", text) if p.strip()):
            if re.match(r"(?i)chapter\s+[ivxl\d]+", paragraph):
                chapters.append(chapter)
                chapter = []
            elif not re.match(r"(?i)(volume|finis|the end)\b.{0,12}$", paragraph):
                chapter.append(paragraph.replace("_", ""))
        chapters.append(chapter)
    return ["\n\n".join(c) for c in chapters if len(" ".join(c)) > SHORTEST_CHAPTER]


def documents(work: Path) -> list[Document]:
    out = []
    for source, chapters in (("kjv", bible(work)), ("austen", austen(work))):
        print(f"{source}: {len(chapters)} chapters, {sum(map(len, chapters))} characters")
        for i, text in enumerate(chapters):
            out.append(Document("val" if i % HELD_OUT_EVERY == HELD_OUT_FIRST else "train", source, text))
    random.Random(SEED).shuffle(out)
    return out


def train_tokenizer(texts: Iterator[str]) -> Tokenizer:
    """Byte-level BPE with GPT-2's pattern, which llama.cpp knows by the name gpt-2."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=N_VOCAB, special_tokens=[END], initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def main(work: Path) -> None:
    work.mkdir(parents=True, exist_ok=True)
    found = documents(work)
    (work / "corpus.json").write_text(json.dumps([[d.split, d.source, d.text] for d in found]), encoding="utf-8")
    tokenizer = train_tokenizer(d.text for d in found if d.split == "train")
    tokenizer.save(str(work / "tokenizer.json"))
    for split in ("train", "val"):
        texts = [d.text for d in found if d.split == split]
        tokens = [t for text in texts for t in (*tokenizer.encode(text).ids, 0)]
        np.array(tokens, np.uint16).tofile(work / f"{split}.bin")
        print(f"{split}: {len(tokens)} tokens, {sum(map(len, texts)) / len(tokens):.2f} characters per token")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
