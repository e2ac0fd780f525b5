"""Repairs, on a copy, what tools and runtimes trip over."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.copying import copy_files
from autotune_backends.transform.onnx.graph import external_files, load_graph
from autotune_backends.transform.onnx.node_names import rename_nodes
from autotune_backends.transform.onnx.true_inputs import drop_weight_inputs

__all__ = ["Repair"]


@dataclass(frozen=True)
class Repair:
    """``for_quantiser`` False: only what keeps onnxruntime from loading the model (twin names).

    True: what misleads its quantiser too (nodes without a name, weights listed as inputs).
    """

    for_quantiser: bool = False

    def __call__(self, source: Path, target: Path) -> Change:
        """Write the repaired model, if there is anything to repair.

        ``facts``: ``renamed`` maps new to old node names, ``dropped_inputs`` lists the weights that were inputs.
        """
        model = load_graph(source)
        facts: dict[str, Any] = {}
        if renamed := rename_nodes(model, unnamed=self.for_quantiser):
            facts["renamed"] = renamed
        if self.for_quantiser and (dropped := drop_weight_inputs(model)):
            facts["dropped_inputs"] = dropped
        if not facts:
            return Change("repair", unchanged="nothing to repair")
        target.write_bytes(model.SerializeToString())
        copy_files(source.parent, external_files(model), target.parent)
        return Change("repair", facts)
