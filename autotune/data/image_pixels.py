"""Reads one image file into pixels, through Pillow."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autotune.core.errors import UserError
from autotune.data.preprocess import Preprocess, Size

__all__ = ["check_image", "read_pixels"]

_REMEDY: Final = "replace the file, or take it out of the folder"


def check_image(file: Path) -> None:
    """Read the file's header only. Raises ``UserError`` when it is no image."""
    with _opened(file):
        pass


def read_pixels(file: Path, steps: Preprocess, channels: int) -> NDArray[np.uint8]:
    """Return the image resized and cropped: shape [height, width, channels], in the steps' order of channels.

    Transparency is dropped, and a camera's note on orientation is not followed, as torchvision's loader does.
    Raises ``UserError``, naming the file, when it cannot be read or is smaller than the crop.
    """
    with _opened(file) as image:
        try:
            loaded = image.convert("L" if channels == 1 else "RGB")
        except (OSError, SyntaxError, ValueError, EOFError) as error:
            raise UserError(f"--data: {file.name} cannot be read: {_words(error)}", _REMEDY) from error
    pixels = np.asarray(_cropped(_resized(loaded, steps.resize), steps.crop, file), dtype=np.uint8)
    pixels = pixels.reshape(*pixels.shape[:2], channels)
    return pixels[:, :, ::-1] if steps.channels == "bgr" else pixels


def _opened(file: Path) -> Any:
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the user's own large images are no attack
            return Image.open(file)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UserError(f"--data: {file.name} is no image that can be read: {_words(error)}", _REMEDY) from error


def _resized(image: Any, size: int | Size | None) -> Any:
    """Bilinear, as torchvision's ``Resize`` does it: a number is the shorter side, and the longer is rounded down."""
    from PIL import Image

    if size is None:
        return image
    if isinstance(size, tuple):
        height, width = size
    else:
        short = min(image.size)
        width, height = (size if side == short else int(size * side / short) for side in image.size)
    return image if image.size == (width, height) else image.resize((width, height), Image.Resampling.BILINEAR)


def _cropped(image: Any, size: Size | None, file: Path) -> Any:
    """The centre, as torchvision's ``CenterCrop`` finds it."""
    if size is None:
        return image
    height, width = size
    if image.height < height or image.width < width:
        problem = f"--data: {file.name} is {image.height}x{image.width}, smaller than crop={height}x{width}"
        raise UserError(problem, "resize first: add resize=… to --preprocess")
    top, left = round((image.height - height) / 2), round((image.width - width) / 2)
    return image.crop((left, top, left + width, top + height))


def _words(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
