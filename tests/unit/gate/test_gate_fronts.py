"""A new front against an old one."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotune.core.errors import UserError
from autotune.core.front import Front, Point
from autotune.core.objective import objective
from autotune.core.values import Value
from autotune.gate.fronts import gate_fronts, hypervolume_loss
from autotune.testing.sample_search import sample_front, sample_search


def point(name: str, ratio: float, accuracy: float, width: float) -> Point:
    blank = sample_front(sample_search(Path("run"))).baseline
    ratios = {"latency_p50": Value(value=ratio, unit="1", low=ratio * (1 - width), high=ratio * (1 + width))}
    metrics = {
        "latency_p50": Value(value=5e-3 * ratio, unit="s"),
        "accuracy": Value(value=accuracy, unit="1", low=accuracy - width / 10, high=accuracy + width / 10),
    }
    return blank.model_copy(update={"id": name, "metrics": metrics, "ratios": {} if name == "baseline" else ratios})


def front(*points: tuple[float, float], width: float = 0.01, kind: str = "real") -> Front:
    made = sample_front(sample_search(Path("run")))
    return made.model_copy(
        update={
            "kind": kind,
            "objectives": (objective("latency_p50"), objective("accuracy")),
            "baseline": point("baseline", 1.0, 0.9, width),
            "points": tuple(point(f"t{number}", *numbers, width) for number, numbers in enumerate(points)),
        }
    )


OLD = ((0.5, 0.9), (0.25, 0.88))


def verdict(new: Front, old: Front) -> str:
    return gate_fronts(new, old, ("new", "old"), 0.05, new.environment).verdict


def test_the_same_front_passes() -> None:
    assert verdict(front(*OLD), front(*OLD)) == "passed"


def test_a_front_that_lost_its_fastest_point_fails() -> None:
    assert verdict(front(OLD[0]), front(*OLD)) == "failed"


def test_a_better_front_passes() -> None:
    assert verdict(front(*OLD, (0.2, 0.89)), front(*OLD)) == "passed"


def test_uncertain_points_are_inconclusive() -> None:
    assert verdict(front((0.53, 0.9), (0.27, 0.88), width=0.3), front(*OLD, width=0.3)) == "inconclusive"


def test_simulated_fronts_are_compared_exactly() -> None:
    loss = hypervolume_loss(front(*OLD, width=0.0, kind="simulated"), front(*OLD, width=0.0, kind="simulated"))
    assert loss.interval.value == pytest.approx(0.0)
    assert loss.interval.low == loss.interval.high


def test_simulated_and_measured_are_not_compared() -> None:
    with pytest.raises(UserError, match="simulated"):
        verdict(front(*OLD), front(*OLD, kind="simulated"))


def test_other_objectives_are_refused() -> None:
    other = front(*OLD).model_copy(update={"objectives": (objective("throughput"),)})
    with pytest.raises(UserError, match="objectives"):
        verdict(other, front(*OLD))
