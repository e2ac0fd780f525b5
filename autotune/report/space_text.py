"""``--dry-run``: the space as it would be searched, and what was left out and why."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.candidate import Scalar
from autotune.core.device import DeviceSpec
from autotune.core.model import ModelFacts, TensorFacts
from autotune.core.space import Omission, Parameter, SearchSpace
from autotune.core.workload import Phase, Workload
from autotune.report.answer import difference

__all__ = ["conditions", "space_text", "values"]


def space_text(space: SearchSpace, workload: Workload, devices: Sequence[DeviceSpec], model: ModelFacts) -> str:
    """Plain text for a person: the model's inputs, parameters with values and conditions, size, omissions, what is first."""
    size = space.size()
    count = "more candidates than can be counted" if size is None else f"{size} candidates"
    blocks = [
        [f"space {space.name}: {count} on {', '.join(device.name for device in devices)}"],
        [f"workload {workload.name}: {', '.join(_phase(phase) for phase in workload.phases)}"],
        *_inputs(model),
        ["", "parameters"],
        *(_parameter(parameter) for parameter in space.parameters),
        ["", f"baseline: {space.baseline}"],
        *([["tried first:"]] if space.experts or space.screened else []),
        [
            f"  {device}: {difference(candidate, space.baseline)} (by an estimate)"
            for device, candidate in space.screened
        ],
        [f"  {difference(expert, space.baseline)}" for expert in space.experts],
        *([["", "left out"]] if space.omissions else []),
        [f"  {_omission(omission)}" for omission in space.omissions],
    ]
    return "\n".join(line for block in blocks for line in block)


def _inputs(model: ModelFacts) -> list[list[str]]:
    """Each input with its type and shape, and the sizes that ``--dim`` sets; nothing of a language model, which has none."""
    if not model.inputs:
        return []
    lines = [f"  {tensor.name}: {tensor.dtype} {_shape(tensor)}" for tensor in model.inputs]
    sizes = ", ".join(f"{name}={size}" for name, size in model.dims.items())
    return [["", "inputs"], lines, [f"  symbolic dimensions: {sizes} (--dim NAME=SIZE)"] if sizes else []]


def _shape(tensor: TensorFacts) -> str:
    if tensor.shape is None:
        return "of unknown rank"
    return f"[{', '.join('?' if size is None else str(size) for size in tensor.shape)}]"


def _parameter(parameter: Parameter) -> list[str]:
    lines = [f"  {parameter.name}: {values(parameter)}  ({parameter.affects})"]
    lines += [f"      {condition}" for condition in conditions(parameter)]
    if parameter.doc:
        lines.append(f"      {parameter.doc}")
    return lines


def conditions(parameter: Parameter) -> list[str]:
    """When the parameter exists, and what bounds it beside others; empty: nothing does."""
    found = []
    if parameter.requires:
        found.append(f"only when {' and '.join(_condition(*entry) for entry in parameter.requires.items())}")
    if parameter.share:
        found.append(f"{parameter.name} × {parameter.share.by} at most {parameter.share.total}")
    return found


def values(parameter: Parameter) -> str:
    """Its legal values, or the ends of their range."""
    if parameter.choices:
        return _listed(parameter.choices)
    step = f", step {parameter.step:g}" if parameter.step is not None else ""
    return f"{parameter.low:g} to {parameter.high:g}{step}{', logarithmic' if parameter.log else ''}"


def _condition(name: str, values: tuple[Scalar, ...]) -> str:
    return f"{name} is {' or '.join(str(value) for value in values)}"


def _omission(omission: Omission) -> str:
    values = f" {_listed(omission.values)}" if omission.values else ""
    return f"{omission.parameter}{values}: {omission.reason}"


def _listed(values: tuple[Scalar, ...]) -> str:
    return ", ".join(str(value) for value in values)


def _phase(phase: Phase) -> str:
    rate = f" at {phase.rate_per_s:g}/s" if phase.rate_per_s is not None else ""
    streams = f" with {phase.streams} streams" if phase.streams is not None else ""
    return f"{phase.scenario}{rate}{streams}{_mixture(phase)}"


def _mixture(phase: Phase) -> str:
    if not phase.shapes:
        return ""
    total = sum(shape.weight for shape in phase.shapes)
    return f" of {', '.join(f'{shape.label} ({shape.weight / total:.0%})' for shape in phase.shapes)}"
