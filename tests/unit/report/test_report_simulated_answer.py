"""The sentence that answers a simulated search."""

from __future__ import annotations

import pytest

from autotune.core.candidate import Candidate
from autotune.core.front import Front, Point
from autotune.core.values import Value
from autotune.core.workload import BUILT_IN
from autotune.report.simulated_answer import simulated_sentence


def simulated(number: float, unit: str, basis: str, wide: float = 1.0) -> Value:
    return Value(value=number, unit=unit, low=number / wide, high=number * wide, provenance="simulated", basis=basis)


def served(id: str, device: str, basis: str, usd: float) -> Point:
    return Point(
        id=id,
        trial=id,
        device=device,
        candidate=Candidate(runtime="simulated", tp=1, pp=1, precision="fp8"),
        metrics={
            "ttft_p90": simulated(0.3, "s", basis, 1.5),
            "device_count": simulated(2.0, "1", ""),
            "cost_per_month": simulated(usd, "USD", "rent", 1.5),
        },
    )


@pytest.fixture
def fleet(front: Front) -> Front:
    points = (
        served("t0001", "mi300x", "roofline on mi300x, high confidence", 2000.0),
        served("t0002", "h100-sxm", "fitted on h100-sxm, high confidence", 2500.0),
    )
    workload = BUILT_IN["chat"].at_rate(20.0)
    return front.model_copy(update={"kind": "simulated", "points": points, "workload": workload, "limits": ()})


def test_what_the_winner_and_the_runner_up_rest_on_is_said(fleet: Front) -> None:
    said = simulated_sentence(fleet)
    assert said is not None
    best, _, other = said.partition(" Runner-up ")
    assert best.endswith("simulated, not measured (roofline on mi300x, high confidence).")
    assert "(fitted on h100-sxm, high confidence)" in other


def test_intervals_that_overlap_are_a_tie(fleet: Front) -> None:
    assert "a tie: which one costs less is not known" in str(simulated_sentence(fleet))
