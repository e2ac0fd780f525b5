"""The facts that offers follow from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from autotune.core.model import BatchAxis

__all__ = ["ModelTraits"]


@dataclass(frozen=True)
class ModelTraits:
    """What only the graph, a run or this host can tell. ``weights``: the floats' type, None when there are none.

    ``quantisable`` counts the operators that dynamic int8 may reach, by kind; ``products`` those of the main graph that
    static int8 is for. ``batch`` was seen by running. ``transformer`` names what could be fused.
    ``block_tool``, ``fusion_tool``: whether the packages that onnxruntime's block quantiser (onnx-ir) and its transformer
    optimiser (sympy) need are installed. ``numa_nodes`` are counted.
    ``prunable`` counts chains whose hidden channels can be taken out. ``trainer``: whether PyTorch is installed;
    ``untrained`` names operators that training cannot go through.
    """

    weights: str | None
    quantisable: Counter[str]
    batch: BatchAxis
    products: Counter[str] = field(default_factory=Counter)
    transformer: tuple[str, ...] = ()
    block_tool: bool = True
    fusion_tool: bool = True
    numa_nodes: int = 1
    prunable: int = 0
    trainer: bool = True
    untrained: tuple[str, ...] = ()
