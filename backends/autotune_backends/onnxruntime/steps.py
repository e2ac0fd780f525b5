"""From a candidate to the transformations that it asks for, and their carrying out, one after another."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from autotune.core.candidate import Candidate
from autotune.core.recovery import RECOVERY
from autotune.core.samples import Tensors
from autotune_backends.transform.onnx.block_weights import BlockWeights
from autotune_backends.transform.onnx.change import Change, Transformation
from autotune_backends.transform.onnx.float16 import Float16
from autotune_backends.transform.onnx.fuse_transformer import FuseTransformer
from autotune_backends.transform.onnx.int8_dynamic import Int8Dynamic
from autotune_backends.transform.onnx.int8_static import Int8Static
from autotune_backends.transform.onnx.prune import Prune
from autotune_backends.transform.onnx.recover import Recover
from autotune_backends.transform.onnx.sensitivity import Kept

__all__ = ["Calibration", "carry_out", "steps_of"]

Calibration = Callable[[], Iterable[Tensors]]
_BITS = {"int4_weights": 4, "int8_weights": 8}


def steps_of(
    candidate: Candidate, original: Path, calibration: Calibration, library: Path | None, block: int = 8
) -> tuple[Transformation, ...]:
    """What the candidate asks to be done to the float32 model ``original``, in order; empty: nothing.

    ``block``: channels that the device's vector units take at once.
    """
    steps: list[Transformation] = []
    if candidate.get("pruning_ratio", 0.0):
        steps.append(Prune(float(candidate["pruning_ratio"]), calibration, library, block))
    if candidate.get(RECOVERY, 0.0):
        steps.append(Recover(original, float(candidate[RECOVERY]), calibration, library))
    if candidate.get("fusion") == "transformer":
        steps.append(FuseTransformer(library))
    precision = candidate.get("precision")
    if precision == "int8_dynamic":
        steps.append(_dynamic(candidate, calibration, library))
    elif precision == "int8_static":
        steps.append(_static(candidate, calibration, library))
    elif precision in _BITS:
        steps.append(_blocks(candidate, library))
    elif precision == "fp16":
        steps.append(Float16(calibration, library))
    return tuple(steps)


def carry_out(steps: Sequence[Transformation], source: Path, target: Path) -> list[Change]:
    """Take the steps, each from what the last one wrote. ``target`` exists afterwards if any of them changed anything."""
    changes: list[Change] = []
    with tempfile.TemporaryDirectory(prefix=".steps-", dir=target.parent) as work:
        current = source
        for number, step in enumerate(steps):
            place = Path(work) / str(number) / target.name
            place.parent.mkdir()
            changes.append(step(current, place))
            current = current if changes[-1].unchanged else place
        if current is not source:
            for file in sorted(current.parent.iterdir()):
                shutil.move(file, target.parent / file.name)
    return changes


def _dynamic(candidate: Candidate, calibration: Calibration, library: Path | None) -> Int8Dynamic:
    return Int8Dynamic(
        per_channel=candidate.get("int8_per_channel") is True,
        matmul_only=candidate.get("int8_operators") == "matmul",
        reduce_range=candidate.get("int8_reduce_range") is True,
        library=library,
        mixed=Kept(calibration, _share(candidate)) if _share(candidate) < 1.0 else None,
    )


def _share(candidate: Candidate) -> float:
    return float(candidate.get("quantised_share", 1.0))


def _static(candidate: Candidate, calibration: Calibration, library: Path | None) -> Int8Static:
    return Int8Static(
        calibration,
        types=str(candidate.get("int8_types", "u8s8")),
        method=str(candidate.get("int8_calibration", "minmax")),
        per_channel=candidate.get("int8_per_channel") is True,
        products_only=candidate.get("int8_static_operators") == "products",
        reduce_range=candidate.get("int8_reduce_range") is True,
        library=library,
        share=_share(candidate),
    )


def _blocks(candidate: Candidate, library: Path | None) -> BlockWeights:
    return BlockWeights(
        bits=_BITS[str(candidate["precision"])],
        block=int(candidate.get("weight_block", 32)),
        products=str(candidate.get("weight_products", "int8")),
        library=library,
    )
