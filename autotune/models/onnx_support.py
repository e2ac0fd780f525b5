"""Refuses models that the installed onnxruntime is too old for, and operators that nothing implements."""

from __future__ import annotations

import re
from typing import Any, Final

from autotune.core.errors import UserError
from autotune.models.onnx_walk import all_nodes

__all__ = ["refuse_newer_than_runtime", "refuse_unknown_domains"]

_PROBED: Final = ("", "ai.onnx", "ai.onnx.ml")
_KNOWN: Final = (
    "",
    "ai.onnx",
    "ai.onnx.ml",
    "ai.onnx.preview",
    "ai.onnx.preview.training",
    "ai.onnx.training",
    "com.microsoft",
    "com.microsoft.experimental",
    "com.microsoft.nchwc",
    "com.ms.internal.nhwc",
    "org.pytorch.aten",
)


def refuse_newer_than_runtime(model: Any, name: str) -> None:
    """Raise ``UserError`` when onnxruntime refuses the IR version or an opset, with both numbers.

    onnxruntime has no function that tells its limits, so it is handed a one-node model of the same versions.
    """
    import onnxruntime

    message = _refusal_of_probe(_probe(model))
    remedy = f"install a newer onnxruntime ({onnxruntime.__version__} is installed), or export the model for it"
    if found := re.search(r"max supported IR version: (\d+)", message):
        raise UserError(f"{name} has IR version {model.ir_version}, onnxruntime reads up to {found[1]}", remedy)
    if found := re.search(r"support for domain (\S+) is till opset (\d+)", message):
        version = _opsets(model).get(found[1], "?")
        raise UserError(f"{name} has opset {version} of {found[1]}, onnxruntime knows up to {found[2]}", remedy)


def refuse_unknown_domains(model: Any, name: str) -> None:
    """Raise ``UserError`` when a node's domain is neither onnxruntime's nor one of the model's own functions."""
    functions = {(function.domain, function.name) for function in model.functions}
    for node in all_nodes(model):
        if node.domain not in _KNOWN and (node.domain, node.op_type) not in functions:
            raise UserError(
                f"{name} uses {node.domain}::{node.op_type}, which onnxruntime does not have",
                "give the library that implements it: --custom-op-lib FILE",
            )


def _opsets(model: Any) -> dict[str, int]:
    return {entry.domain or "ai.onnx": entry.version for entry in model.opset_import}


def _probe(model: Any) -> bytes:
    from onnx import TensorProto, helper

    nodes = [helper.make_node("Identity", ["x"], ["y"])]
    ends = [helper.make_tensor_value_info(end, TensorProto.FLOAT, [1]) for end in ("x", "y")]
    opsets = {entry.domain: entry.version for entry in model.opset_import if entry.domain in _PROBED}
    opsets = opsets if {"", "ai.onnx"} & set(opsets) else {"": 1, **opsets}
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    graph = helper.make_graph(nodes, "probe", ends[:1], ends[1:])
    probe: bytes = helper.make_model(graph, opset_imports=imports, ir_version=model.ir_version).SerializeToString()
    return probe


def _refusal_of_probe(probe: bytes) -> str:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    try:
        onnxruntime.InferenceSession(probe, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return str(error)
    return ""
