"""``--preprocess``: what is done to an image before a model sees it."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Final

from autotune.core.errors import UserError, nearest

__all__ = ["Preprocess", "Size", "parse_preprocess"]

Size = tuple[int, int]

_EXAMPLE: Final = 'write it like "resize=256 crop=224 mean=0.485,0.456,0.406 std=0.229,0.224,0.225"'


@dataclass(frozen=True)
class Preprocess:
    """Steps in order: resize (bilinear, antialiased), crop the centre, divide by ``scale``, subtract ``mean``, divide by ``std``.

    ``resize``: a number is the length of the shorter side, the other follows; a pair is (height, width), None: no resizing.
    ``crop``: (height, width), None: no cropping. ``mean`` and ``std``: one number a channel or one for all, empty: 0 and 1.
    ``scale`` None: 255 where the model takes floats, and bytes are left as they are. ``channels``: their order, rgb or bgr.
    """

    resize: int | Size | None = None
    crop: Size | None = None
    scale: float | None = None
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    channels: str = "rgb"

    def __str__(self) -> str:
        """As people write it, the same for the same steps; empty when nothing was asked for."""
        unset = Preprocess()
        given = ((field.name, getattr(self, field.name)) for field in fields(self))
        return " ".join(f"{name}={_text(value)}" for name, value in given if value != getattr(unset, name))

    @property
    def size(self) -> Size | None:
        """The (height, width) that comes out; None when it depends on the image, or on the model."""
        return self.crop or (self.resize if isinstance(self.resize, tuple) else None)


def parse_preprocess(text: str) -> Preprocess:
    """Read ``"resize=256 crop=224 mean=… std=…"``. Raises ``UserError`` that names what is wrong."""
    steps: dict[str, str] = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        known = [field.name for field in fields(Preprocess)]
        if name not in known:
            close = nearest(name, known)
            raise UserError(f"--preprocess: there is no step {name!r}{close}", f"steps: {', '.join(known)}; {_EXAMPLE}")
        if not equals or not value:
            raise UserError(f"--preprocess: {name} has no value", _EXAMPLE)
        if name in steps:
            raise UserError(f"--preprocess: {name} occurs twice", _EXAMPLE)
        steps[name] = value
    read = Preprocess(
        resize=_resize(steps.get("resize")),
        crop=_pair("crop", steps["crop"]) if "crop" in steps else None,
        scale=_scale(steps.get("scale")),
        mean=_numbers("mean", steps.get("mean")),
        std=_numbers("std", steps.get("std")),
        channels=steps.get("channels", "rgb"),
    )
    _refuse_nonsense(read)
    return read


def _refuse_nonsense(read: Preprocess) -> None:
    if read.channels not in ("rgb", "bgr"):
        raise UserError(f"--preprocess: channels={read.channels} is neither rgb nor bgr", "leave it out for rgb")
    if any(number <= 0 for number in read.std):
        raise UserError("--preprocess: std must be above 0", "leave it out to divide by nothing")
    if read.scale is None and any(number > 1 for number in (*read.mean, *read.std)):
        remedy = "write scale=1 to keep pixels at 0 to 255, or give mean and std as parts of 1"
        raise UserError("--preprocess: mean or std is above 1, but pixels are divided by 255 first", remedy)
    if read.crop and read.resize:
        least = (read.resize, read.resize) if isinstance(read.resize, int) else read.resize
        if any(cropped > resized for cropped, resized in zip(read.crop, least, strict=True)):
            raise UserError("--preprocess: the crop is larger than the resized image", "make resize at least crop")


def _resize(value: str | None) -> int | Size | None:
    if value is None:
        return None
    return int(value) if re.fullmatch(r"[1-9]\d*", value) else _pair("resize", value)


def _pair(name: str, value: str) -> Size:
    match = re.fullmatch(r"([1-9]\d*)(?:x([1-9]\d*))?", value)
    if match is None:
        raise UserError(
            f"--preprocess: {name}={value} is no size", f"write {name}=224, or {name}=HEIGHTxWIDTH in pixels"
        )
    return int(match[1]), int(match[2] or match[1])


def _numbers(name: str, value: str | None) -> tuple[float, ...]:
    if value is None:
        return ()
    try:
        return tuple(float(number) for number in value.split(","))
    except ValueError as error:
        raise UserError(f"--preprocess: {name}={value} is no list of numbers", _EXAMPLE) from error


def _scale(value: str | None) -> float | None:
    numbers = _numbers("scale", value)
    if not numbers:
        return None
    if len(numbers) > 1 or numbers[0] <= 0:
        raise UserError(f"--preprocess: scale={value} is no number above 0", "leave it out to divide by 255")
    return numbers[0]


def _text(value: object) -> str:
    if isinstance(value, tuple):
        separator = "x" if all(isinstance(one, int) for one in value) else ","
        return separator.join(_text(one) for one in value)
    return repr(value) if isinstance(value, float) else str(value)
