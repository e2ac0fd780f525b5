"""Writes down what happens in a simulation, as little as the metrics need."""

from __future__ import annotations

import math

import numpy as np

from autotune_backends.simulated.serving.requests import Requests
from autotune_backends.simulated.serving.result import Counters, ServingResult, Times

__all__ = ["Recorder"]


class Recorder:
    """Times of requests, and runs of decode steps: first duration, its growth by step, how many, for how many sequences."""

    __slots__ = ("_firsts", "_growths", "_steps", "_weights", "arrived_s", "ended_s", "first_s")

    def __init__(self, requests: int) -> None:
        self.arrived_s = [math.nan] * requests
        self.first_s = [math.nan] * requests
        self.ended_s = [math.nan] * requests
        self._firsts: list[float] = []
        self._growths: list[float] = []
        self._steps: list[int] = []
        self._weights: list[int] = []

    def gaps(self, first_s: float, growth_s: float, steps: int, sequences: int) -> None:
        """Each of ``sequences`` waited ``first_s``, ``first_s + growth_s``, … for its next ``steps`` tokens."""
        self._firsts.append(first_s)
        self._growths.append(growth_s)
        self._steps.append(steps)
        self._weights.append(sequences)

    def result(self, requests: Requests, counters: Counters, groups: tuple[Counters, ...]) -> ServingResult:
        """Everything as arrays. Every request must have ended."""
        arrived, ended = np.asarray(self.arrived_s), np.asarray(self.ended_s)
        itl_s, weight = self._expanded()
        span_s = float(ended.max() - arrived.min())
        return ServingResult(
            arrived_s=arrived,
            ttft_s=np.asarray(self.first_s) - arrived,
            e2e_s=ended - arrived,
            input_tokens=np.asarray(requests.inputs, dtype=np.int64),
            output_tokens=np.asarray(requests.outputs, dtype=np.int64),
            itl_s=itl_s,
            itl_weight=weight,
            span_s=span_s,
            window_s=float(arrived.max() - arrived.min()) if requests.pool else span_s,
            counters=counters,
            groups=groups,
        )

    def _expanded(self) -> tuple[Times, Times]:
        steps = np.asarray(self._steps, dtype=np.int64)
        starts = np.repeat(np.cumsum(steps) - steps, steps)
        ahead = np.arange(steps.sum()) - starts
        itl = np.repeat(np.asarray(self._firsts), steps) + np.repeat(np.asarray(self._growths), steps) * ahead
        return itl, np.repeat(np.asarray(self._weights, dtype=np.float64), steps)
