"""Recovers what pruning lost: the original is the teacher, the calibration data are what it is asked about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from autotune.core.clock import Clock, SystemClock
from autotune.core.samples import Tensors
from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.differentiable import GraphFunction, Parts, split, without_derivative
from autotune_backends.transform.onnx.distil import STEPS, Learned, distil
from autotune_backends.transform.onnx.graph import external_files, load_graph
from autotune_backends.transform.onnx.plain_session import plain_session
from autotune_backends.transform.onnx.teacher import Run, Teacher, fixed_part

__all__ = ["Recover"]

_BATCH = 32
_SAME = 1e-3
"""How far, relative to the largest value, PyTorch may be from onnxruntime on the same graph."""


@dataclass(frozen=True)
class Recover:
    """Train the model for at most ``seconds`` to answer as ``teacher`` does.

    ``samples`` yields inputs of batch 1, anew each time.

    ``library``: what implements the model's own operators, None: it has none. ``steps``: after so many it ends.
    """

    teacher: Path
    seconds: float
    samples: Callable[[], Iterable[Tensors]]
    library: Path | None = None
    steps: int = STEPS
    clock: Clock = field(default_factory=SystemClock)

    def __call__(self, source: Path, target: Path) -> Change:
        """Write the trained model. ``facts``: error before and after on samples held back, relative to the outputs' variance,
        steps and seconds. Raises ``ValueError`` for a graph that cannot be differentiated here, or without samples.
        """
        import onnx

        began = self.clock.now_s()
        model = onnx.load(str(source))
        parts = split(model)
        _refuse(model, parts)
        learned = self._learn(model, parts)
        facts: dict[str, Any] = {
            "error_before": learned.error_before,
            "error_after": learned.error_after,
            "steps": learned.steps,
            "seconds": round(self.clock.now_s() - began, 1),
        }
        if learned.out_of_time:
            facts["ended"] = f"the {self.seconds:g} s were over before all {self.steps} steps were taken"
        if learned.error_after >= learned.error_before:
            return Change("recovery", facts, unchanged="training did not bring it nearer to the original")
        _store(model, learned)
        external = bool(external_files(load_graph(source)))
        onnx.save_model(
            model, str(target), save_as_external_data=external, location=f"{target.name}.data" if external else None
        )
        return Change("recovery", facts)

    def _learn(self, model: Any, parts: Parts) -> Learned:
        samples = [dict(sample) for sample in self.samples()]
        if not samples:
            raise ValueError("there are no calibration data")
        function = GraphFunction(model, parts)
        start, original = fixed_part(model, parts, self.library), _runner(self.teacher, self.library)
        _refuse_differing(function, start, _runner(model.SerializeToString(), self.library), samples[0])
        batch = _BATCH if _in_batches(original, samples) else 1
        return distil(function, Teacher(original, start, samples, batch), self.seconds, self.clock, self.steps)


def _refuse(model: Any, parts: Parts) -> None:
    if unknown := without_derivative(model):
        raise ValueError(f"training would go through {', '.join(sorted(unknown))}, which is not differentiated here")
    if not parts.trained:
        raise ValueError("the model has no float32 weights to train")


def _runner(model: Path | bytes, library: Path | None) -> Run:
    session = plain_session(model, library, optimised=True)
    names = [output.name for output in session.get_outputs()]
    return lambda inputs: dict(zip(names, session.run(names, dict(inputs)), strict=True))


def _refuse_differing(function: GraphFunction, start: Run, exact: Run, sample: Tensors) -> None:
    """Nothing is trained as a function that is not the model's."""
    import torch

    expected = exact(sample)
    with torch.no_grad():
        found = {name: value.numpy() for name, value in function(start(sample)).items()}
    for name, array in found.items():
        reach = _SAME * float(np.max(np.abs(expected[name]), initial=1e-6))
        if array.shape != expected[name].shape or not np.allclose(array, expected[name], atol=reach, rtol=_SAME):
            raise ValueError(f"output {name!r} comes out differently in PyTorch: the model is not trained")


def _in_batches(original: Run, samples: list[dict[str, Any]]) -> bool:
    """Whether samples are of one shape, and two at once give what they give one by one."""
    two = samples[:2]
    shapes = {tuple((name, array.shape) for name, array in sample.items()) for sample in samples}
    if len(two) < 2 or len(shapes) > 1 or any(array.shape[:1] != (1,) for array in two[0].values()):
        return False
    try:
        joined = original({name: np.concatenate([sample[name] for sample in two]) for name in two[0]})
    except Exception:  # onnxruntime's exceptions share no base class; a fixed batch axis is no fault
        return False
    alone = [original(sample) for sample in two]
    return all(
        len(array) == 2 and np.allclose(array, np.concatenate([one[name] for one in alone]), rtol=1e-2, atol=1e-3)
        for name, array in joined.items()
    )


def _store(model: Any, learned: Learned) -> None:
    from onnx import numpy_helper

    for weight in model.graph.initializer:
        if weight.name in learned.weights:
            weight.CopyFrom(numpy_helper.from_array(learned.weights[weight.name], weight.name))
