"""Trains what is left of a pruned graph to answer as the original does (Hinton et al., Distilling the Knowledge, 2015).

The loss is the squared error of the outputs relative to their variance, the limit of distillation at high temperatures (ibid.,
section 2.1): it needs no labels, and serves scores, embeddings and values alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.clock import Clock
from autotune_backends.transform.onnx.differentiable import GraphFunction
from autotune_backends.transform.onnx.teacher import Lesson, Teacher

__all__ = ["Learned", "distil"]

STEPS = 3000
_RATE = 1e-3
_WARM_STEPS = 20
_LOOKS = 25
"""How often, on the way, the samples held back are looked at."""

_SLOWER = 0.3
_MOST_SLOWER = 3
_HELD_BACK = 5  # one of so many samples is judged by, and not learned from
_FEWEST_HELD = 4


@dataclass(frozen=True)
class Learned:
    """``weights`` by name, the best that were seen. ``error_before`` and ``error_after``: of the samples held back, relative to
    the outputs' variance. ``out_of_time``: there was no time for all steps.
    """

    weights: Mapping[str, NDArray[np.float32]]
    error_before: float
    error_after: float
    steps: int
    out_of_time: bool


def distil(
    function: GraphFunction, teacher: Teacher, seconds: float, clock: Clock, steps: int = STEPS, seed: int = 0
) -> Learned:
    """Train for ``steps`` of Adam with a cosine schedule, or for ``seconds`` if they are over earlier.

    A rate that makes it worse is lowered from where it was best. What is returned is never worse, on the samples held back,
    than what there was.
    """
    return _Training(function, teacher, clock, clock.now_s() + seconds, steps, np.random.default_rng(seed)).run()


class _Training:
    def __init__(
        self,
        function: GraphFunction,
        teacher: Teacher,
        clock: Clock,
        end_s: float,
        steps: int,
        draw: np.random.Generator,
    ) -> None:
        self._function, self._teacher, self._clock, self._draw = function, teacher, clock, draw
        self._began_s, self._end_s, self._steps = clock.now_s(), end_s, steps
        self._learned, self._held = _parts(len(teacher.samples))
        self._rate, self._slower = _RATE, 0
        exam = teacher.plain(self._held)
        self._exam, self._scale = exam, _variances([lesson.wanted for lesson in exam])

    def run(self) -> Learned:
        before = best = self._error()
        kept, step, looks = self._weights(), 0, 0
        optimiser = self._optimiser()
        while self._progress(step) < 1.0:
            self._step(optimiser, step)
            step += 1
            if self._progress(step) * _LOOKS < looks + 1:
                continue
            looks, error = int(self._progress(step) * _LOOKS), self._error()
            if error < best:
                best, kept = error, self._weights()
            elif not error < 1.5 * best and self._slower < _MOST_SLOWER:
                self._restore(kept)
                self._rate, self._slower = self._rate * _SLOWER, self._slower + 1
                optimiser = self._optimiser()
        return Learned(kept, before, best, step, out_of_time=step < self._steps)

    def _step(self, optimiser: Any, step: int) -> None:
        warm = min(1.0, (step + 1) / _WARM_STEPS)
        for group in optimiser.param_groups:
            group["lr"] = self._rate * warm * 0.5 * (1 + math.cos(math.pi * self._progress(step)))
        optimiser.zero_grad()
        self._loss(self._teacher.varied(self._learned, self._draw)).backward()
        optimiser.step()

    def _progress(self, step: int) -> float:
        """How far through the schedule: by steps, or by time where that is shorter."""
        allowed_s = self._end_s - self._began_s
        spent = (self._clock.now_s() - self._began_s) / allowed_s if allowed_s > 0 else 1.0
        return min(1.0, max(step / self._steps, spent))

    def _loss(self, lessons: Sequence[Lesson]) -> Any:
        return sum(self._loss_of(lesson) for lesson in lessons) / len(lessons)

    def _loss_of(self, lesson: Lesson) -> Any:
        import torch

        found = self._function(lesson.given)
        return sum(
            torch.mean((found[name] - torch.from_numpy(lesson.wanted[name])) ** 2) / scale
            for name, scale in self._scale.items()
            if name in found
        )

    def _error(self) -> float:
        import torch

        with torch.no_grad():
            return float(self._loss(self._exam))

    def _weights(self) -> dict[str, NDArray[np.float32]]:
        return {name: weight.detach().numpy().copy() for name, weight in self._function.weights.items()}

    def _restore(self, kept: Mapping[str, NDArray[np.float32]]) -> None:
        import torch

        with torch.no_grad():
            for name, weight in self._function.weights.items():
                weight.copy_(torch.from_numpy(kept[name]))

    def _optimiser(self) -> Any:
        import torch

        return torch.optim.Adam(list(self._function.weights.values()), lr=self._rate)


def _parts(count: int) -> tuple[Sequence[int], Sequence[int]]:
    """Samples to learn from, and samples to judge by: with very few, all of them serve both."""
    held = range(0, count, _HELD_BACK)
    if len(held) < _FEWEST_HELD:
        return range(count), range(count)
    return [position for position in range(count) if position % _HELD_BACK], held


def _variances(answers: Sequence[Mapping[str, NDArray[Any]]]) -> dict[str, float]:
    """Of the outputs that are numbers; 1 where nothing varies."""
    names = [name for name, array in answers[0].items() if array.dtype.kind == "f"]
    return {name: float(np.var(np.concatenate([one[name].ravel() for one in answers]))) or 1.0 for name in names}
