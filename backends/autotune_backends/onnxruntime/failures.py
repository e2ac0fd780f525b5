"""onnxruntime's and its tools' errors, read as causes and one-line messages."""

from __future__ import annotations

import errno
import re

from autotune.core.errors import Cause
from autotune.measure.causes import cause_of_text

__all__ = ["cause_of", "message_of"]

_PREFIX = re.compile(r"\[ONNXRuntimeError\] : \d+ : \w+ : ")
_SOURCE_LINE = re.compile(r"/onnxruntime_src/\S+:\d+ (?:\S+ )?[\w:~]+\(.*?\)(?: const)? ?")
_SHOWN_CHARACTERS = 500
_EXTRAS = {"onnx_ir": "int4", "sympy": "fusion", "torch": "torch"}
"""Packages that onnxruntime's tools, or ours, import only when they are asked → the extra that has them."""


def cause_of(error: BaseException) -> Cause:
    """Return the cause of an exception that onnxruntime, onnx or a quantiser raised."""
    if isinstance(error, MemoryError):
        return "out_of_memory"
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return "disk"
    if isinstance(error, ImportError):
        return "unsupported"
    return cause_of_text(f"{type(error).__name__}: {error}")


def message_of(error: BaseException) -> str:
    """Return the error's own words on one line; its type leads where that says more (``AssertionError``).

    Of a package that is missing: how to install it.
    """
    if isinstance(error, ModuleNotFoundError) and error.name in _EXTRAS:
        return f"needs the package {error.name}: pip install 'autotune-inference[{_EXTRAS[error.name]}]'"
    words = " ".join(_SOURCE_LINE.sub("", _PREFIX.sub("", str(error))).split())
    if type(error).__module__.startswith("onnxruntime.capi"):
        return words[:_SHOWN_CHARACTERS]
    return f"{type(error).__name__}: {words}"[:_SHOWN_CHARACTERS].removesuffix(": ")
