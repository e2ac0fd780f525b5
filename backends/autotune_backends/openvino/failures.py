"""OpenVINO's errors, read as causes and one-line messages."""

from __future__ import annotations

import re

from autotune.core.errors import Cause
from autotune.measure.causes import cause_of_text

__all__ = ["cause_of", "message_of"]

_PLACE = re.compile(r"^(Exception from \S+:\d+:|Check '.*' failed at \S+:\d+:|FrontEnd API failed with \w+:)$")
_SHOWN_CHARACTERS = 500


def cause_of(error: BaseException) -> Cause:
    """Return the cause of an exception that openvino raised."""
    return "out_of_memory" if isinstance(error, MemoryError) else cause_of_text(f"{type(error).__name__}: {error}")


def message_of(error: BaseException) -> str:
    """Return the error's own words on one line, without the places in OpenVINO's source that lead there."""
    lines = [line.strip() for line in str(error).splitlines()]
    words = " ".join(line for line in lines if line and not _PLACE.match(line))
    return (words or " ".join(str(error).split()) or type(error).__name__)[:_SHOWN_CHARACTERS]
