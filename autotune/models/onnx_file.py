"""Loads an ONNX file's protobuf, weights in external data left where they are; refuses what is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autotune.core.errors import UserError

__all__ = ["load_proto"]

_LARGEST = 2**31 - 1  # bytes: a protobuf message cannot be larger


def load_proto(path: Path) -> Any:
    """Return the ``onnx.ModelProto``. Raises ``UserError`` when the file is empty, truncated, unreadable or not ONNX."""
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import load

    _refuse_size(path)
    try:
        model = load(path, load_external_data=False)
    except (DecodeError, UnicodeDecodeError) as error:
        raise _not_onnx(path, "it cannot be parsed") from error
    except OSError as error:
        raise UserError(
            f"{path.name} cannot be read: {error.strerror or error}", "check the file's permissions"
        ) from error
    fault = _fault(model)
    if fault:
        raise _not_onnx(path, fault)
    return model


def _refuse_size(path: Path) -> None:
    size = path.stat().st_size
    if size == 0:
        raise UserError(f"{path.name} is empty", "download or export the model again")
    if size > _LARGEST:
        raise UserError(
            f"{path.name} has {size} bytes: an ONNX file holds at most 2 GiB",
            "save the weights as external data: onnx.save(model, path, save_as_external_data=True)",
        )


def _fault(model: Any) -> str | None:
    """What a parsed message lacks to be a model: protobuf accepts a file that was cut between two fields."""
    if model.ir_version <= 0:
        return "it states no IR version"
    if not model.opset_import:
        return "it states no opset"
    if not model.graph.node:
        return "its graph has no operators"
    if not model.graph.output:
        return "its graph has no outputs"
    return None


def _not_onnx(path: Path, fault: str) -> UserError:
    return UserError(
        f"{path.name} is not an ONNX model, or is truncated: {fault}", "download or export the model again"
    )
