"""What offers follow from: the program's operators, and the tools that are installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from autotune.core.model import BatchAxis, ModelFacts, whatever

__all__ = ["ProgramTraits", "traits_of", "widest_traits"]

_CONVOLUTIONS = ("conv2d", "convolution")
_PRODUCTS = ("linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "conv1d", "conv2d", "conv3d", "convolution")
_ATTENTION = "scaled_dot_product_attention"


@dataclass(frozen=True)
class ProgramTraits:
    """Counts of operators, and what is installed. ``batch`` was seen by running; ``largest_batch`` None: any."""

    convolutions: int
    linear: int
    products: int
    attention: int
    batch: BatchAxis
    largest_batch: int | None
    compiler: str | None
    onnx_tool: bool


def traits_of(model: ModelFacts, batch: BatchAxis, largest_batch: int | None) -> ProgramTraits:
    """Count the operators by their names in ``aten``, whatever the overload."""
    return ProgramTraits(
        convolutions=sum(_count(model.operators, name) for name in _CONVOLUTIONS),
        linear=_count(model.operators, "linear"),
        products=sum(_count(model.operators, name) for name in _PRODUCTS),
        attention=_count(model.operators, _ATTENTION),
        batch=batch,
        largest_batch=largest_batch,
        compiler=shutil.which(os.environ.get("CXX") or "g++"),
        onnx_tool=find_spec("onnxscript") is not None,
    )


def widest_traits() -> ProgramTraits:
    """Of a program with all that makes a choice legal, and with the tools that are here."""
    program = whatever("pt2").model_copy(
        update={"operators": {f"aten.{name}": 1 for name in ("conv2d", "linear", _ATTENTION)}}
    )
    return traits_of(program, program.batch, None)


def _count(operators: Mapping[str, int], name: str) -> int:
    return sum(count for operator, count in operators.items() if operator.split(".")[:2] == ["aten", name])
