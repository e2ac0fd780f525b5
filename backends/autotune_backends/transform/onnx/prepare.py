"""Prepares a model for onnxruntime's tools: an operator set that has what they write, and constants folded.

Symbolic shape inference, which onnxruntime's own preparation runs too, is left out: quantisation needs types, not
shapes, and it stops at shapes that follow from values.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.copying import copy_model
from autotune_backends.transform.onnx.graph import external_files, load_graph, opset
from autotune_backends.transform.onnx.opset import OLDEST_OPSET, raise_opset
from autotune_backends.transform.onnx.tool_words import one_line

__all__ = ["Prepare"]


@dataclass(frozen=True)
class Prepare:
    """``library``: what implements the model's own operators, if any. ``oldest``: the operator set needed at least.

    ``without`` names rewrites of onnxruntime that are left out.
    """

    library: Path | None = None
    oldest: int = OLDEST_OPSET
    without: tuple[str, ...] = ()

    def __call__(self, source: Path, target: Path, external: bool = False) -> Change:
        """Write the prepared model, its weights to a file of their own if ``external``.

        ``facts``: the ``opset`` when it was raised; ``skipped`` when folding failed, and why.
        """
        facts: dict[str, Any] = {}
        version = opset(load_graph(source))
        if version is not None and version < self.oldest:
            source = raise_opset(source, self.oldest, target.parent)
            facts = {"opset": f"converted {version} → {self.oldest}"}
        try:
            self._fold(source, target, external)
        except Exception as error:  # onnxruntime's exceptions share no base class; unfolded is worse, not wrong
            facts |= {"skipped": "constant folding", "because": one_line(error)}
            copy_model(source, external_files(load_graph(source)), target)
        return Change("prepare", facts)

    def _fold(self, source: Path, target: Path, external: bool) -> None:
        """Have onnxruntime write the model as its basic, hardware-independent rewrites leave it."""
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(target)
        options.log_severity_level = 3
        if external:
            options.add_session_config_entry(
                "session.optimized_model_external_initializers_file_name", f"{target.name}.data"
            )
        if self.library is not None:
            options.register_custom_ops_library(str(self.library))
        ort.InferenceSession(
            str(source), options, providers=["CPUExecutionProvider"], disabled_optimizers=list(self.without)
        )
