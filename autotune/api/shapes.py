"""Sizes of symbolic dimensions: fixed ones, and mixtures of several, from ``--dim`` and from the workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from autotune.core.dataset import DataFacts
from autotune.core.dimensions import symbols_in
from autotune.core.errors import UserError, nearest
from autotune.core.model import ModelFacts
from autotune.core.workload import Shape, Workload

__all__ = ["distinct_shapes", "fixed_sizes", "mixing", "refuse_unfit_shapes", "shape_remarks", "usual_sizes"]

Dims = Mapping[str, Sequence[int]]


def fixed_sizes(dims: Dims) -> dict[str, int]:
    """The dimensions of one size."""
    return {name: sizes[0] for name, sizes in dims.items() if len(sizes) == 1}


def mixing(workload: Workload, dims: Dims) -> Workload:
    """The workload whose every phase mixes the sizes of ``dims``, all combinations alike, where some have several.

    Raises ``UserError`` when the workload mixes shapes of its own.
    """
    several = {name: sizes for name, sizes in dims.items() if len(sizes) > 1}
    own = {name for phase in workload.phases for shape in phase.shapes for name in shape.dims}
    for name in dims:
        if name in own or (name in several and own):
            raise UserError(
                f"--dim {name}: the workload {workload.name!r} mixes shapes itself", "give sizes in one place only"
            )
    if not several:
        return workload
    shapes = tuple(Shape(dims=dict(zip(several, sizes, strict=True))) for sizes in product(*several.values()))
    phases = tuple(phase.model_copy(update={"shapes": shapes}) for phase in workload.phases)
    return workload.model_copy(update={"phases": phases})


def distinct_shapes(workload: Workload) -> tuple[Shape, ...]:
    """Every shape that some phase sends, once, the commonest first."""
    weights: dict[str, float] = {}
    shapes: dict[str, Shape] = {}
    for phase in workload.phases:
        total = sum(shape.weight for shape in phase.shapes)
        for shape in phase.shapes:
            shapes[shape.label] = shape
            weights[shape.label] = weights.get(shape.label, 0.0) + shape.weight / total
    return tuple(sorted(shapes.values(), key=lambda shape: -weights[shape.label]))


def usual_sizes(workload: Workload) -> dict[str, int]:
    """The sizes that most requests have: what the model is described and probed at."""
    shapes = distinct_shapes(workload)
    return dict(shapes[0].dims) if shapes else {}


def refuse_unfit_shapes(workload: Workload, model: ModelFacts) -> None:
    """Raise ``UserError`` for a dimension that the model's inputs do not have, or that is the batch."""
    symbols = {symbol for one in model.inputs for dim in one.shape or () for symbol in symbols_in(dim)}
    for shape in distinct_shapes(workload):
        for name in shape.dims:
            if name not in symbols:
                remedy = f"symbolic dimensions: {', '.join(sorted(symbols)) or 'none: every one is fixed'}"
                problem = f"shape {shape.label}: no input has a dimension {name!r}{nearest(name, symbols)}"
                raise UserError(problem, remedy)
            if name == model.batch.symbol:
                raise UserError(f"shape {shape.label}: {name!r} is the batch", "leave it out: the search sets it")


def shape_remarks(workload: Workload, data: DataFacts) -> list[str]:
    """What a person should know of the sizes that are measured."""
    if data.varying and not any(phase.shapes for phase in workload.phases):
        name = data.varying[0]
        return [
            f"samples differ in {', '.join(data.varying)}: speed is measured at the commonest size "
            f"(--dim {name}=64,128 mixes several)"
        ]
    if data.path is not None and any(phase.shapes for phase in workload.phases):
        return ["requests of sizes that the data lack are generated; quality is taken on the data as they are"]
    return []
