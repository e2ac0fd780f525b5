from __future__ import annotations

import pytest

from autotune.core.candidate import Candidate
from autotune.core.objective import objective
from autotune.core.trial import Measurement, TrialRecord
from autotune.core.values import Value
from autotune.searching.importance import importances
from autotune.testing.sample_search import sample_record

GOALS = (objective("latency_p50"), objective("fidelity"))


def record(number: int) -> TrialRecord:
    """Latency depends on threads alone; ``block`` exists under int8 only; fidelity never varies."""
    threads, int8 = 1 + number % 2, number % 3 == 0
    parameters = {"threads": threads, "precision": "int8" if int8 else "fp32"} | ({"block": 16} if int8 else {})
    metrics = {"latency_p50": Value(value=0.004 / threads, unit="s"), "fidelity": Value(value=1.0, unit="1")}
    made = sample_record(number, Measurement(metrics=metrics))
    return made.model_copy(update={"trial": made.trial.model_copy(update={"candidate": Candidate(parameters)})})


def test_the_parameter_that_decides_takes_the_whole_share() -> None:
    found = importances([record(number) for number in range(1, 25)], GOALS)
    assert list(found) == ["latency_p50"]
    assert found["latency_p50"]["threads"] == pytest.approx(1.0, abs=0.05)
    assert set(found["latency_p50"]) == {"threads", "precision", "block"}


def test_too_few_trials_say_nothing() -> None:
    assert importances([record(number) for number in range(1, 9)], GOALS) == {}


def test_shares_are_the_same_each_time() -> None:
    records = [record(number) for number in range(1, 25)]
    assert importances(records, GOALS) == importances(records, GOALS)
