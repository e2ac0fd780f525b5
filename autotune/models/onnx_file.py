"""Loads an ONNX file's protobuf, weights in external data left where they are; refuses what is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autotune.core.errors import UserError
from autotune.models.onnx_walk import all_nodes, all_tensors

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
    if not all(isinstance(name, str) for name in _names(model)):
        return "its names are not text"
    return None


def _names(model: Any) -> Iterator[str | bytes]:
    """Every name that is read later. Protobuf hands out bytes where they are not UTF-8."""
    yield model.graph.name
    yield from (entry.domain for entry in model.opset_import)
    yield from (value.name for values in (model.graph.input, model.graph.output) for value in values)
    for node in all_nodes(model):
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (attribute.name for attribute in node.attribute)
    for tensor in all_tensors(model):
        yield tensor.name
        yield from (text for entry in tensor.external_data for text in (entry.key, entry.value))


def _not_onnx(path: Path, fault: str) -> UserError:
    return UserError(
        f"{path.name} is not an ONNX model, or is truncated: {fault}", "download or export the model again"
    )
