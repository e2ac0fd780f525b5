"""The space of ONNX models."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.candidate import Scalar
from autotune.core.model import ModelFacts
from autotune.core.space import Offer, SearchSpace
from autotune.core.workload import Workload
from autotune_search_spaces.composed import composed
from autotune_search_spaces.experts import experts

__all__ = ["onnx_space"]

_REFERENCE: dict[str, Scalar] = {"graph_optimization": "disabled", "intra_op_threads": 1}


def onnx_space(model: ModelFacts, offers: Sequence[Offer], workload: Workload) -> SearchSpace:
    """ONNX models, measured on this machine.

    Composed from what the backends offer. Raises ``UserError`` when none of them can run the model.
    """
    return composed(model, offers, workload, experts=experts, reference=_REFERENCE)
