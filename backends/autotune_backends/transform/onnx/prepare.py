"""Prepares a model for onnxruntime's dynamic quantiser: an operator set that has int8 products, and constants folded.

Symbolic shape inference, which onnxruntime's own preparation runs too, is left out: dynamic quantisation needs types, not
shapes, and it stops at shapes that follow from values.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.copying import copy_model
from autotune_backends.transform.onnx.graph import external_files, load_graph, opset
from autotune_backends.transform.onnx.tool_words import one_line, quiet_tools

__all__ = ["OLDEST_OPSET", "Prepare"]

OLDEST_OPSET = 11
"""Older models are converted to it: DynamicQuantizeLinear came with 11."""


@dataclass(frozen=True)
class Prepare:
    """``external``: weights go to a file of their own. ``library``: what implements the model's own operators, if any."""

    external: bool = False
    library: Path | None = None

    def __call__(self, source: Path, target: Path) -> Change:
        """Write the prepared model. ``facts``: the ``opset`` when it was raised; ``skipped`` when folding failed, and why."""
        facts: dict[str, Any] = {}
        version = opset(load_graph(source))
        if version is not None and version < OLDEST_OPSET:
            raised = target.with_name(f"opset{OLDEST_OPSET}.onnx")
            _raise_opset(source, raised)
            source, facts = raised, {"opset": f"converted {version} → {OLDEST_OPSET}"}
        try:
            self._fold(source, target)
        except Exception as error:  # onnxruntime's exceptions share no base class; unfolded is worse, not wrong
            facts |= {"skipped": "constant folding", "because": one_line(error)}
            copy_model(source, external_files(load_graph(source)), target)
        return Change("prepare", facts)

    def _fold(self, source: Path, target: Path) -> None:
        """Have onnxruntime write the model as its basic, hardware-independent rewrites leave it."""
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(target)
        options.log_severity_level = 3
        if self.external:
            options.add_session_config_entry(
                "session.optimized_model_external_initializers_file_name", f"{target.name}.data"
            )
        if self.library is not None:
            options.register_custom_ops_library(str(self.library))
        ort.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])


def _raise_opset(source: Path, target: Path) -> None:
    """Convert by onnxruntime's own preparation with everything else off: it replaces Upsample, which 10 deprecated."""
    from onnxruntime.quantization.shape_inference import quant_pre_process

    with quiet_tools():
        quant_pre_process(
            str(source), str(target), skip_optimization=True, skip_symbolic_shape=True, skip_onnx_shape=True
        )
