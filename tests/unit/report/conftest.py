from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autotune.core.candidate import Candidate
from autotune.core.front import Front, Point
from autotune.core.objective import objective
from autotune.core.values import Value
from autotune.testing.sample_search import sample_front, sample_search

BASELINE = Candidate(runtime="onnxruntime", precision="fp32", threads=2)
UNITS = {"latency_p50": "s", "throughput": "1/s", "energy": "J", "accuracy": "1", "accuracy_drop": "1", "fidelity": "1"}
MakeFront = Callable[..., Front]


def value(name: str, number: float, low: float | None = None, high: float | None = None) -> Value:
    origin = "estimated" if name == "energy" else "measured"
    return Value.model_validate(
        {"value": number, "unit": UNITS.get(name, "1"), "low": low, "high": high, "n": 100, "provenance": origin}
    )


def ratio(name: str, number: float, low: float | None, high: float | None) -> Value:
    return value(name, number, low, high).model_copy(update={"unit": "1"})


def point(
    id: str, metrics: dict[str, float], ratios: dict[str, tuple[float, float, float]], **changed: object
) -> Point:
    return Point(
        id=id,
        trial=id,
        device="cpu",
        candidate=BASELINE.with_(**changed),
        metrics={name: value(name, number, number * 0.98, number * 1.02) for name, number in metrics.items()},
        ratios={name: ratio(name, *numbers) for name, numbers in ratios.items()},
    )


@pytest.fixture
def front(tmp_path: Path) -> Front:
    """The original, a fast int8 point (the knee), and a frugal one that is certainly slower."""
    search = sample_search(tmp_path)
    original = point("baseline", {"latency_p50": 2e-3, "throughput": 900.0, "energy": 4e-3, "accuracy": 0.986}, {})
    fast = point(
        "t0007",
        {"latency_p50": 0.866e-3, "throughput": 2070.0, "energy": 2.2e-3, "accuracy": 0.983, "accuracy_drop": 0.003},
        {"latency_p50": (0.433, 0.420, 0.444), "throughput": (2.3, 2.25, 2.35), "energy": (0.55, 0.48, 0.66)},
        precision="int8",
    )
    frugal = point(
        "t0009",
        {"latency_p50": 2.4e-3, "throughput": 700.0, "energy": 2.0e-3, "accuracy": 0.986, "accuracy_drop": 0.0},
        {"latency_p50": (1.2, 1.18, 1.22), "throughput": (0.78, 0.76, 0.8), "energy": (0.5, 0.45, 0.6)},
        threads=1,
    )
    return sample_front(search).model_copy(
        update={
            "quality": "accuracy",
            "objectives": tuple(objective(name) for name in ("latency_p50", "throughput", "energy", "accuracy")),
            "baseline": original,
            "points": (fast, frugal),
            "knee": "t0007",
        }
    )


@pytest.fixture
def level_front(front: Front) -> Front:
    """One point whose paired intervals all hold 1.00."""
    same = point(
        "t0003",
        {"latency_p50": 1.9e-3, "throughput": 930.0, "energy": 3.9e-3, "accuracy": 0.986},
        {"latency_p50": (0.96, 0.91, 1.01), "throughput": (1.03, 0.99, 1.07), "energy": (0.97, 0.8, 1.2)},
        threads=1,
    )
    return front.model_copy(update={"points": (same,), "knee": "t0003"})
