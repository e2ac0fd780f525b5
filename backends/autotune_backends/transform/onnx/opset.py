"""Converts a model to a newer operator set."""

from __future__ import annotations

from pathlib import Path

from autotune_backends.transform.onnx.graph import external_files, load_graph, opset
from autotune_backends.transform.onnx.tool_words import quiet_tools

__all__ = ["LAYER_NORM_OPSET", "OLDEST_OPSET", "PER_CHANNEL_OPSET", "raise_opset"]

OLDEST_OPSET = 11
"""Older models are converted to it: DynamicQuantizeLinear came with 11."""

PER_CHANNEL_OPSET = 13
"""``axis`` of QuantizeLinear and DequantizeLinear came with 13: without it, a graph with several scales does not load."""

LAYER_NORM_OPSET = 17
"""LayerNormalization came with 17: onnxruntime runs it in older models too, and onnx's checker refuses it there."""


def raise_opset(source: Path, version: int, folder: Path) -> Path:
    """Return the path, in ``folder``, of the model converted to ``version`` (11 at least). Tools raise what they like."""
    if (opset(load_graph(source)) or version) < OLDEST_OPSET:
        source = _to_oldest(source, folder / f"opset{OLDEST_OPSET}.onnx")
    return source if version <= OLDEST_OPSET else _convert(source, folder / f"opset{version}.onnx", version)


def _to_oldest(source: Path, target: Path) -> Path:
    """Convert by onnxruntime's own preparation with everything else off: it replaces Upsample, which 10 deprecated."""
    from onnxruntime.quantization.shape_inference import quant_pre_process

    with quiet_tools():
        quant_pre_process(
            str(source), str(target), skip_optimization=True, skip_symbolic_shape=True, skip_onnx_shape=True
        )
    return target


def _convert(source: Path, target: Path, version: int) -> Path:
    """Convert by onnx's converter, which reads the weights too: a model over 2 GB is refused by it."""
    import onnx
    from onnx.version_converter import convert_version

    external = bool(external_files(load_graph(source)))
    converted = convert_version(onnx.load(str(source)), version)
    onnx.save_model(converted, str(target), save_as_external_data=external, location=f"{target.name}.data")
    return target
