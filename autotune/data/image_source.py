"""Images in a folder, read and preprocessed when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from autotune.core.errors import UserError
from autotune.core.hashing import hash_files, hash_json
from autotune.core.model import ModelFacts
from autotune.data.dataset import Dataset, Fit, Sample
from autotune.data.dtypes import numpy_dtype
from autotune.data.image_files import LABEL_FILE, ImageFiles, find_images
from autotune.data.image_input import ImageInput, image_input
from autotune.data.image_pixels import check_image, read_pixels
from autotune.data.preprocess import Preprocess, parse_preprocess

__all__ = ["ImageSource"]


@dataclass(frozen=True)
class ImageSource:
    """``path`` is the folder; ``steps`` what was asked for."""

    path: Path
    images: ImageFiles
    steps: Preprocess
    loader: None = None

    @classmethod
    def open(cls, folder: Path, preprocess: str | None) -> Self:
        """List the images and read the steps. Raises ``UserError``."""
        return cls(folder, find_images(folder), parse_preprocess(preprocess or ""))

    @property
    def preprocess(self) -> str:
        """What was asked for; empty: nothing."""
        return str(self.steps)

    def sha256(self) -> str:
        """The hash of the images, their labels and the steps."""
        table = self.path / LABEL_FILE
        files = (*self.images.files, table) if table.is_file() else self.images.files
        return hash_json({"files": hash_files(set(files), self.path), "preprocess": str(self.steps)})

    def fit(self, model: ModelFacts) -> Fit:
        """Hold size and channels against the model, and see that each file is an image. Raises ``UserError``."""
        one = image_input(model)
        steps = _complete(self.steps, one)
        _ = self._readable
        symbols = zip((one.height, one.width), steps.size or (), strict=False)
        sizes = {dim: size for dim, size in symbols if isinstance(dim, str)}
        return Fit(len(self.images.files), self.images.labels is not None, sizes)

    @cached_property
    def _readable(self) -> bool:
        """Each file was looked into, once. Raises ``UserError``."""
        for file in self.images.files:
            check_image(file)
        return True

    def dataset(self, model: ModelFacts) -> Dataset:
        """The images, for a model that they fit."""
        one = image_input(model)
        return _ImageDataset(self.images, one, _complete(self.steps, one))


class _ImageDataset:
    def __init__(self, images: ImageFiles, one: ImageInput, steps: Preprocess) -> None:
        self._images, self._input, self._steps = images, one, steps

    def __len__(self) -> int:
        return len(self._images.files)

    def sample(self, index: int) -> Sample:
        """Return one image. Raises ``UserError``, naming the file, when it cannot be read."""
        pixels = read_pixels(self._images.files[index], self._steps, self._input.channels)
        array = _as_input(pixels, self._steps, self._input)
        labels = self._images.labels
        return {self._input.tensor.name: array}, None if labels is None else labels[index]


def _as_input(pixels: NDArray[np.uint8], steps: Preprocess, one: ImageInput) -> NDArray[Any]:
    """From pixels of shape [height, width, channels] to what the model takes."""
    values: NDArray[Any] = pixels
    if one.tensor.dtype != "uint8":
        values = pixels.astype(np.float32) / np.float32(steps.scale or 255.0)
        values = (values - _per_channel(steps.mean, 0.0)) / _per_channel(steps.std, 1.0)
    if one.channels_first:
        values = values.transpose(2, 0, 1)
    values = values[np.newaxis] if one.lacks_axis else values
    return np.ascontiguousarray(values, dtype=numpy_dtype(one.tensor.dtype))


def _per_channel(numbers: tuple[float, ...], otherwise: float) -> NDArray[np.float32]:
    return np.asarray(numbers or (otherwise,), dtype=np.float32)


def _complete(steps: Preprocess, one: ImageInput) -> Preprocess:
    """The steps with the size that the model needs. Raises ``UserError`` when they cannot give it."""
    _refuse_unfit(steps, one)
    needed = one.fixed_size
    if steps.size is None and steps.resize is None:
        if needed is None:
            problem = "the model takes images of any size, and --preprocess names none"
            raise UserError(problem, 'say which, for example --preprocess "resize=256 crop=224"')
        return replace(steps, resize=needed)
    if steps.size is None:
        remedy = f"add crop={needed[0]}x{needed[1]}" if needed else "add crop=…, or write resize=HEIGHTxWIDTH"
        raise UserError(f"--preprocess: after resize={steps.resize} images differ in size", remedy)
    for side, dim, size in zip(("high", "wide"), (one.height, one.width), steps.size, strict=True):
        if isinstance(dim, int) and dim != size:
            raise UserError(
                f"--preprocess gives images {size} pixels {side}, the model takes {dim}", "change crop or resize"
            )
    if one.height == one.width and isinstance(one.height, str) and steps.size[0] != steps.size[1]:
        raise UserError(f"--preprocess: the model takes square images ({one.height})", "change crop or resize")
    return steps


def _refuse_unfit(steps: Preprocess, one: ImageInput) -> None:
    for name, numbers in (("mean", steps.mean), ("std", steps.std)):
        if len(numbers) > 1 and len(numbers) != one.channels:
            problem = f"--preprocess: {name} has {len(numbers)} numbers, the model takes {one.channels} channels"
            raise UserError(problem, "give one number a channel, or one for all")
    if one.tensor.dtype == "uint8" and (steps.mean or steps.std or steps.scale):
        raise UserError(
            f"--preprocess: {one.tensor.name!r} takes bytes: they are fed as they are", "leave out scale, mean and std"
        )
