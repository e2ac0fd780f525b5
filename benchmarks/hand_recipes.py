"""What people do by hand with onnxruntime or PyTorch, each measured pair by pair beside the original, and its loss taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from autotune import plugins
from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.clock import SystemClock
from autotune.core.errors import TrialError
from autotune.core.figures import improvement
from autotune.core.plan import Plan
from autotune.core.samples import Tensors
from autotune.core.values import Value
from autotune.data import batches, open_dataset
from autotune.measure import Against, measure
from autotune.measure.fidelity import output_fidelities
from benchmarks.subject import Subject

__all__ = ["RECIPES", "Recipe", "carried_out"]

_ONNX: Final[Mapping[str, Mapping[str, Any]]] = {
    "one thread": {"intra_op_threads": 1},
    "dynamic int8": {"precision": "int8_dynamic"},
    "dynamic int8, per channel": {"precision": "int8_dynamic", "int8_per_channel": True},
    "dynamic int8 of MatMul": {"precision": "int8_dynamic", "int8_operators": "matmul"},
    "static int8": {"precision": "int8_static"},
    "static int8 of products, per channel": {
        "precision": "int8_static",
        "int8_static_operators": "products",
        "int8_per_channel": True,
    },
}
_TORCH: Final[Mapping[str, Mapping[str, Any]]] = {
    "one thread": {"intra_op_threads": 1},
    "channels last": {"channels_last": True},
    "autocast to bf16": {"inference_precision": "bf16"},
    "compiled": {"kernels": "inductor"},
    "compiled, autocast to bf16": {"kernels": "inductor", "inference_precision": "bf16"},
    "exported to onnxruntime": {"kernels": "onnxruntime"},
}
RECIPES: Final = {"onnx": _ONNX, "pt2": _TORCH}
"""By the model's format: what each changes of the original."""
_PLAN = Plan(name="front", paired=True, max_rounds=100, phase_limit_s=4.0)


@dataclass(frozen=True)
class Recipe:
    """``speed``: times the original's, paired. ``fidelity``: the least of its outputs', over the subject's inputs."""

    name: str
    speed: Value
    fidelity: float


def carried_out(built: Subject, folder: Path) -> Iterator[Recipe]:
    """Each recipe that the model's space has and that can be built and opened."""
    with built.open() as original:
        expected = [original.outputs(inputs) for inputs in built.inputs]
    space = {parameter.name: parameter.choices for parameter in built.search.space.parameters}
    for number, (name, changes) in enumerate(RECIPES[built.search.model.format].items()):
        if all(value in (space.get(parameter) or ()) for parameter, value in changes.items()):
            try:
                yield _measured(built, name, _build(built, changes, folder / str(number)), expected)
            except TrialError:
                continue


def _build(built: Subject, changes: Mapping[str, Any], folder: Path) -> Artifact:
    context = built.search.context
    dataset = open_dataset(context.data, context.model)

    def calibration() -> Iterator[Tensors]:
        return (one for one, _ in batches(dataset, context.data.split.calibrate, context.model))

    folder.mkdir(parents=True)
    candidate = Candidate({**built.artifact.candidate, **changes})
    backend = plugins.backend(built.artifact.backend)
    return backend.build(context.model, candidate, context.devices[0], folder, calibration)


def _measured(built: Subject, name: str, artifact: Artifact, expected: list[Tensors]) -> Recipe:
    device = built.search.context.devices[0]
    with plugins.backend(artifact.backend).open(artifact, device) as session, built.open() as original:
        original.pause()
        found = [session.outputs(inputs) for inputs in built.inputs]
        fidelity = min(one.mean for one in output_fidelities(found, expected, [1] * len(found)))
        against = Against(original, built.loads)
        measured = measure(
            session, built.loads, _PLAN, clock=SystemClock(), cpus=int(device.cpus or 1), against=against
        )
    return Recipe(name, improvement("latency_p50", measured.ratios["latency_p50"]), fidelity)
