"""Puts together what the other ``onnx_*`` modules find in one file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autotune.core.hashing import hash_files
from autotune.core.model import ModelFacts
from autotune.models.batch import batch_axis
from autotune.models.dims import size_dims
from autotune.models.onnx_bounds import id_bounds
from autotune.models.onnx_external import external_files
from autotune.models.onnx_file import load_proto
from autotune.models.onnx_flops import count_flops
from autotune.models.onnx_shapes import infer_shapes
from autotune.models.onnx_signature import signature
from autotune.models.onnx_structure import count_operators, is_branching, is_quantised, remarks, weight_bytes
from autotune.models.onnx_support import refuse_newer_than_runtime, refuse_unknown_domains

__all__ = ["read_onnx"]


def read_onnx(path: Path, dims: Mapping[str, int], custom_op_library: Path | None) -> ModelFacts:
    """Return the facts of the ONNX model at the absolute ``path``. Raises ``UserError``; see ``read_model``."""
    model = load_proto(path)
    refuse_newer_than_runtime(model, path.name)
    if custom_op_library is None:
        refuse_unknown_domains(model, path.name)
    files = (path.name, *external_files(model, path))
    return _facts(model, path, files, dims, custom_op_library)


def _facts(
    model: Any, path: Path, files: tuple[str, ...], dims: Mapping[str, int], custom_op_library: Path | None
) -> ModelFacts:
    inputs, outputs = signature(model.graph, id_bounds(model.graph))
    batch = batch_axis(inputs, dims)
    sizes = size_dims(inputs, batch.symbol, dims)
    operators = count_operators(model)
    return ModelFacts(
        path=path,
        format="onnx",
        sha256=_hash(path, files),
        files=files,
        size_bytes=sum((path.parent / file).stat().st_size for file in files),
        inputs=inputs,
        outputs=outputs,
        operators=operators,
        opset={entry.domain or "ai.onnx": entry.version for entry in model.opset_import},
        ir_version=model.ir_version,
        batch=batch,
        dims=sizes,
        quantised=is_quantised(operators),
        branching=is_branching(model.graph),
        weight_bytes=weight_bytes(model),
        flops=count_flops(model.graph, infer_shapes(model, inputs, sizes)),
        notes=remarks(model),
        custom_op_library=custom_op_library,
    )


def _hash(path: Path, files: tuple[str, ...]) -> str:
    """One file: its own SHA-256, as ``sha256sum`` prints it. Several: one over all."""
    if len(files) > 1:
        return hash_files([path.parent / file for file in files], path.parent)
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
