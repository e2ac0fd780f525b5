"""The input that takes images, and how: which axis holds the channels, and what size is needed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from autotune.core.errors import UserError
from autotune.core.model import ModelFacts, TensorFacts
from autotune.data.batch_axis import has_batch

__all__ = ["ImageInput", "image_input"]

_CHANNELS: Final = (3, 1)
_NAMED: Final = re.compile(r"channel|^c$", re.IGNORECASE)
Dim = int | str | None


@dataclass(frozen=True)
class ImageInput:
    """``height`` and ``width``: a number, or the name of a symbolic dimension, None: neither. ``channels``: 3 or 1.

    ``channels_first``: NCHW, else NHWC. ``lacks_axis``: the model has a first axis of 1 that is no batch.
    """

    tensor: TensorFacts
    height: Dim
    width: Dim
    channels: int
    channels_first: bool
    lacks_axis: bool

    @property
    def fixed_size(self) -> tuple[int, int] | None:
        """(height, width) where the model takes one size only."""
        return (self.height, self.width) if isinstance(self.height, int) and isinstance(self.width, int) else None


def image_input(model: ModelFacts) -> ImageInput:
    """Find it. Raises ``UserError`` when the model's inputs are no single image of floats or bytes."""
    if len(model.inputs) != 1:
        names = ", ".join(one.name for one in model.inputs) or "none"
        raise UserError(
            f"an image folder feeds one input, the model has {len(model.inputs)}: {names}",
            "give arrays (.npz) or a module:function that yields every input",
        )
    one = model.inputs[0]
    shape, lacks_axis = _image_shape(one, model)
    first = _is_channels(shape[0])
    if not first and not _is_channels(shape[2]):
        raise _no_image(one)
    channels, height, width = (shape[0], shape[1], shape[2]) if first else (shape[2], shape[0], shape[1])
    if one.dtype != "uint8" and not one.dtype.startswith(("float16", "float32", "float64", "bfloat16")):
        raise UserError(f"images are fed as floats or uint8, but {one.name!r} is {one.dtype}", _OTHERWISE)
    count = channels if isinstance(channels, int) else model.dims.get(str(channels), 3)
    return ImageInput(one, height, width, count if count in _CHANNELS else 3, first, lacks_axis)


_OTHERWISE: Final = "give arrays (.npz) or a module:function"


def _image_shape(one: TensorFacts, model: ModelFacts) -> tuple[tuple[Dim, ...], bool]:
    """The three axes of one image, and whether a first axis of 1 that is no batch was left out."""
    shape = one.shape or ()
    if has_batch(model):
        shape, lacks_axis = shape[1:], False
    else:
        first = shape[0] if len(shape) == 4 else None
        lacks_axis = (model.dims.get(first) if isinstance(first, str) else first) == 1
        shape = shape[1:] if lacks_axis else shape
    if len(shape) != 3:
        raise _no_image(one)
    return shape, lacks_axis


def _is_channels(dim: Dim) -> bool:
    return dim in _CHANNELS or (isinstance(dim, str) and bool(_NAMED.search(dim)))


def _no_image(one: TensorFacts) -> UserError:
    shown = "unknown" if one.shape is None else "×".join("?" if dim is None else str(dim) for dim in one.shape)
    return UserError(f"input {one.name!r} of shape {shown} takes no images: no axis holds 1 or 3 channels", _OTHERWISE)
