"""Batches to learn from: samples, mixtures of them, and what the original answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.samples import Tensors
from autotune_backends.transform.onnx.differentiable import Parts
from autotune_backends.transform.onnx.plain_session import plain_session

__all__ = ["Lesson", "Teacher", "fixed_part"]

_NOISE = 0.05
"""Of an input's standard deviation."""

_ONE_BY_ONE = 8
"""Inputs of a step where they do not run in batches."""

Run = Callable[[Tensors], dict[str, NDArray[Any]]]


@dataclass(frozen=True)
class Lesson:
    """``given``: the tensors that the learning part of the graph starts from; ``wanted``: the original's outputs."""

    given: Mapping[str, NDArray[Any]]
    wanted: Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Teacher:
    """``original`` runs the unpruned model. ``start`` computes what a function of the weights starts from.

    ``samples`` are inputs of batch 1, of which ``batch`` may run at once; 1: one by one, they may differ in shape then.
    The calibration data are few, and a pruned network would learn them by heart: so most lessons are of inputs between two of
    them (Zhang et al., mixup, 2018), and noise is added, for the original answers any input. Inputs that are not floating
    point (ids) stay as they are.
    """

    original: Run
    start: Run
    samples: Sequence[Tensors]
    batch: int

    def plain(self, positions: Sequence[int]) -> list[Lesson]:
        """These samples as they are."""
        return self._lessons([self.samples[position] for position in positions])

    def varied(self, positions: Sequence[int], draw: np.random.Generator) -> list[Lesson]:
        """As many inputs as a step takes, drawn from what lies between these samples."""
        count = self.batch if self.batch > 1 else _ONE_BY_ONE
        first, second = (draw.choice(np.asarray(positions), count) for _ in range(2))
        shares = np.where(draw.random(count) < 0.5, 1.0, draw.random(count))
        return self._lessons(
            [self._between(int(a), int(b), float(s), draw) for a, b, s in zip(first, second, shares, strict=True)]
        )

    def _between(self, first: int, second: int, share: float, draw: np.random.Generator) -> Tensors:
        return {
            name: self._mixed(name, array, self.samples[second][name], share, draw)
            for name, array in self.samples[first].items()
        }

    def _mixed(
        self, name: str, one: NDArray[Any], other: NDArray[Any], share: float, draw: np.random.Generator
    ) -> NDArray[Any]:
        if one.dtype.kind != "f" or one.shape != other.shape:
            return one
        noise = _NOISE * self._spread[name] * draw.standard_normal(one.shape)
        mixed: NDArray[Any] = (share * one + (1 - share) * other + noise).astype(one.dtype)
        return mixed

    @cached_property
    def _spread(self) -> dict[str, float]:
        names = [name for name, array in self.samples[0].items() if array.dtype.kind == "f"]
        return {name: float(np.std(np.concatenate([one[name].ravel() for one in self.samples]))) for name in names}

    def _lessons(self, samples: Sequence[Tensors]) -> list[Lesson]:
        joined = [_stacked(samples[start : start + self.batch]) for start in range(0, len(samples), self.batch)]
        return [Lesson(self.start(inputs), self.original(inputs)) for inputs in joined]


def fixed_part(model: Any, parts: Parts, library: Path | None) -> Run:
    """What computes the tensors that do not depend on weights, by onnxruntime; the inputs are among them."""
    import onnx

    inputs = {value.name for value in model.graph.input}
    made = [name for name in parts.given if name not in inputs]
    fed = [name for name in parts.given if name in inputs]
    if not made:
        return lambda samples: {name: np.asarray(samples[name]) for name in fed}
    smaller = type(model)()
    smaller.CopyFrom(model)
    kept = [model.graph.node[index] for index in parts.fixed]
    del smaller.graph.node[:], smaller.graph.output[:]
    smaller.graph.node.extend(kept)
    smaller.graph.output.extend(onnx.ValueInfoProto(name=name) for name in made)
    session = plain_session(smaller.SerializeToString(), library, optimised=True)
    return lambda samples: {
        **{name: np.asarray(samples[name]) for name in fed},
        **dict(zip(made, session.run(made, dict(samples)), strict=True)),
    }


def _stacked(samples: Sequence[Tensors]) -> Tensors:
    return {name: np.concatenate([np.asarray(sample[name]) for sample in samples]) for name in samples[0]}
