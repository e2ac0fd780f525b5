"""What memory a transformation takes, before it takes it: a process that is ended for its memory tells nobody why."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.errors import BuildError
from autotune_backends.transform.onnx.block_weights import BlockWeights
from autotune_backends.transform.onnx.change import Transformation
from autotune_backends.transform.onnx.float16 import Float16
from autotune_backends.transform.onnx.fuse_transformer import FuseTransformer

__all__ = ["peak_bytes", "refuse_beyond_memory"]

_TIMES = {BlockWeights: 1.5, Float16: 2.2, FuseTransformer: 5.0}
"""Peak memory of a build over the model's bytes: eight MatMuls of 268 MB in external data, onnxruntime 1.32."""

_OTHERS = 4.2
"""The same of mixed int8, taken for the others, too."""


def peak_bytes(steps: Sequence[Transformation], model_bytes: int) -> float:
    """About what the steps take at most; they are taken one after another. 0: nothing is to be done."""
    return max((model_bytes * _TIMES.get(type(step), _OTHERS) for step in steps), default=0.0)


def refuse_beyond_memory(steps: Sequence[Transformation], model_bytes: int, memory_bytes: int | None) -> None:
    """Raise ``BuildError`` when the machine has less memory than the steps take; ``memory_bytes`` None: unknown."""
    needed = peak_bytes(steps, model_bytes)
    if memory_bytes is not None and needed > memory_bytes:
        raise BuildError(
            "out_of_memory",
            f"building it takes about {needed / 2**30:.1f} GiB, and this machine has {memory_bytes / 2**30:.1f} GiB",
        )
