"""Accuracy and fidelity, paired on the same samples."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autotune.core.deployment import Quality
from autotune.core.samples import Tensors
from autotune.gate.evidence import Scored
from autotune.gate.verdict import Compared, GateReport
from autotune.measure.proportions import paired_drop

ACCURATE = {"quality": Quality(name="accuracy", metric="top1", data_sha256="", n=400)}


def entry(report: GateReport, metric: str) -> Compared:
    return next(one for one in report.compared if one.metric == metric)


def labels_of(asked: list[Tensors]) -> list[int]:
    return [int(np.argmax(one["x"])) for one in asked]


def forgetting(count: int) -> Callable[[Tensors], Tensors]:
    """Answers right, but for the first ``count`` samples that it is asked."""
    seen: dict[bytes, int] = {}

    def answer(one: Tensors) -> Tensors:
        number = seen.setdefault(one["x"].tobytes(), len(seen))
        return {"scores": -one["x"] if number and number <= count else one["x"]}

    return answer


def test_unchanged_outputs_are_within(gates: SimpleNamespace) -> None:
    report = gates.run(count=40, labels=labels_of(gates.inputs(40)), changes=ACCURATE)
    assert entry(report, "accuracy").standing == "within"
    assert entry(report, "fidelity").standing == "reported"


def test_a_drop_beyond_the_tolerance_fails_whatever_the_speed(gates: SimpleNamespace) -> None:
    model = gates.Model(answer=forgetting(40))
    report = gates.run(model, count=400, labels=labels_of(gates.inputs(400)), changes=ACCURATE)
    accuracy = entry(report, "accuracy")
    assert report.verdict == "failed"
    assert accuracy.standing == "worse"
    assert accuracy.loss is not None
    assert accuracy.loss.value == pytest.approx(0.1)


def test_a_drop_that_may_be_luck_is_inconclusive(gates: SimpleNamespace) -> None:
    model = gates.Model(answer=forgetting(2))
    report = gates.run(model, count=100, labels=labels_of(gates.inputs(100)), changes=ACCURATE)
    assert entry(report, "accuracy").standing == "undecided"
    assert "luck" in entry(report, "accuracy").reason
    assert report.attempts == 1, "measuring on would not tell"


def test_without_labels_fidelity_is_judged(gates: SimpleNamespace) -> None:
    report = gates.run(gates.Model(answer=forgetting(40)), count=200)
    assert entry(report, "fidelity").standing == "worse"


def test_not_a_number_is_a_failure_of_the_outputs(gates: SimpleNamespace) -> None:
    broken = gates.Model(answer=lambda one: {"scores": one["x"] * np.float32("nan")})
    report = gates.run(broken)
    assert report.sentence == "failed: outputs"
    assert "NaN" in report.compared[0].reason


def test_a_missing_output_is_a_failure_of_the_outputs(gates: SimpleNamespace) -> None:
    report = gates.run(gates.Model(answer=lambda one: {"logits": one["x"]}))
    assert report.verdict == "failed"
    assert "'scores' is missing" in report.compared[0].reason


def drops(points: float, seed: int, count: int = 2000, changed: float = 0.04) -> Scored:
    """A drop of so many points in truth, while ``changed`` of all samples are answered otherwise."""
    generator = np.random.default_rng(seed)
    before = generator.random(count) < 0.9
    lost = generator.random(count) < (changed + points / 100) / 2 / 0.9
    gained = generator.random(count) < (changed - points / 100) / 2 / 0.1
    after = np.where(before, ~lost, gained)
    return Scored(paired_drop(before.astype(float), after.astype(float)), count)


def caught(points: float, **options: Any) -> int:
    return sum(drops(points, seed, **options).beyond(0.01, 0.01 / 4) for seed in range(100))


def test_two_points_on_two_thousand_samples_are_caught() -> None:
    assert caught(2.0) >= 95


def test_no_drop_is_never_taken_for_one() -> None:
    assert caught(0.0) == 0
