"""Which inputs and outputs onnxruntime's Python interface can exchange as numpy arrays."""

from __future__ import annotations

from typing import Final

from autotune.core.model import TensorFacts

__all__ = ["no_array"]

_EXCHANGED: Final = frozenset(
    {"bool", "str", "float16", "float32", "float64"}
    | {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
)
"""What ``InferenceSession.run`` takes and gives (seen with 1.32). ``undefined``: the model does not say, so it is tried."""


def no_array(one: TensorFacts) -> str | None:
    """Why this input or output cannot be an array; None: it can.

    Of the formats that numpy lacks (``bfloat16``, ``float8_e4m3fn``, ``int4``) and of sparse tensors there are no arrays.
    """
    what = "a sparse tensor" if one.kind == "sparse" else one.dtype
    if what in _EXCHANGED | {"undefined"}:
        return None
    return f"{one.name!r} is {what}, which onnxruntime's Python interface does not exchange as an array"
