from __future__ import annotations

import pytest

from autotune.core.values import Value
from autotune.measure import Measured
from autotune.measure.bracketed import bracketed


def found(seconds: float, spread: float = 0.01, **more: bool) -> Measured:
    value = Value(value=seconds, unit="s", low=seconds * (1 - spread), high=seconds * (1 + spread), n=10)
    return Measured(metrics={"latency_p50": value}, **more)


def test_a_linear_drift_cancels_and_widens_the_interval() -> None:
    still = bracketed(found(1.0), found(0.5), found(1.0)).ratios["latency_p50"]
    drifting = bracketed(found(1.0), found(0.55), found(1.21)).ratios["latency_p50"]
    assert still.value == pytest.approx(0.5)
    assert drifting.value == pytest.approx(0.5)
    assert still.interval() == (pytest.approx(0.494, abs=0.001), pytest.approx(0.506, abs=0.001))
    assert drifting.interval() == (pytest.approx(0.451, abs=0.001), pytest.approx(0.554, abs=0.001))


def test_what_was_unsteady_or_busy_on_either_side_is_told() -> None:
    told = bracketed(found(1.0, steady=False), found(0.5), found(1.0, busy=True))
    assert not told.steady
    assert told.busy
    assert told.theirs["latency_p50"].value == pytest.approx(1.0)


def test_a_metric_that_only_one_side_has_is_in_no_ratio() -> None:
    assert bracketed(Measured(metrics={}), found(0.5), found(1.0)).ratios == {}
