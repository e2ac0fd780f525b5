"""Fuses a transformer's parts: attention, layer normalisation, GELU, as onnxruntime's transformer optimiser knows them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.graph import graphs, kind, load_graph, nodes
from autotune_backends.transform.onnx.opset import LAYER_NORM_OPSET
from autotune_backends.transform.onnx.prepare import Prepare
from autotune_backends.transform.onnx.prepared import prepared
from autotune_backends.transform.onnx.tool_words import quiet_tools

__all__ = ["FuseTransformer", "transformer_parts"]

_STANDARD = frozenset({"LayerNormalization", "Gelu"})
_FAMILY = "bert"
"""The optimiser's general family: it also knows the attention of other encoders, and finds heads and width itself."""

_SPOILING = ("ConstantSharing",)
"""A rewrite after which the optimiser no longer sees its patterns (it leaves it out itself when it folds constants)."""


@dataclass(frozen=True)
class FuseTransformer:
    """``library``: what implements the model's own operators, None: it has none."""

    library: Path | None = None

    def __call__(self, source: Path, target: Path) -> Change:
        """Write the fused model. ``facts``: nodes before and after, and what was fused, by kind."""
        with prepared(source, target, Prepare(self.library, LAYER_NORM_OPSET, _SPOILING)) as ready:
            self._fuse(ready.path, target, ready.external)
            counted = _fused(load_graph(target)) - _fused(ready.original)
            facts = {"fused": dict(sorted(counted.items()))}
            why = "the optimiser found no attention, layer normalisation or GELU to fuse"
            return ready.change("fusion", target, counted, why, **facts)

    def _fuse(self, source: Path, target: Path, external: bool) -> None:
        with quiet_tools():
            from onnxruntime.transformers.optimizer import optimize_model

            optimised = optimize_model(str(source), model_type=_FAMILY, opt_level=0)
            optimised.save_model_to_file(str(target), use_external_data_format=external)


def transformer_parts(model: Any) -> tuple[str, ...]:
    """Name what of a transformer the graph seems to have, written out: ``attention``, ``LayerNorm``, ``GELU``.

    A glance at operators, not at their arrangement: what is really there, the optimiser finds.
    """
    return tuple(dict.fromkeys(part for graph in graphs(model.graph) for part in _parts(graph)))


def _parts(graph: Any) -> list[str]:
    kinds = {kind(node) for node in graph.node}
    weighted = {output for node in graph.node if node.op_type == "Softmax" for output in node.output}
    attends = any(node.op_type == "MatMul" and not weighted.isdisjoint(node.input) for node in graph.node)
    found = {
        "attention": attends,
        "LayerNorm": {"ReduceMean", "Sub", "Sqrt", "Div"} <= kinds,
        "GELU": {"Erf", "Mul"} <= kinds or {"Tanh", "Pow", "Mul"} <= kinds,
    }
    return [name for name, present in found.items() if present]


def _fused(model: Any) -> Counter[str]:
    return Counter(
        kind(node) for node in nodes(model.graph) if node.domain == "com.microsoft" or kind(node) in _STANDARD
    )
