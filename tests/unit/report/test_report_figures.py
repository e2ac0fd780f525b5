from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.core.figures import certainty, format_number, format_ratio, format_value, improvement
from autotune.core.values import Value


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (1, "1.00"), (0.0123456, "0.0123"), (12.34, "12.3"), (999.6, "1000"), (1234, "1230"), (9.996, "10.0"),
     (0.9996, "0.9996"), (0.99999, ">0.9999"), (1e-7, "1.00e-07"), (-0.0034, "-0.00340")],
)  # fmt: skip
def test_numbers_have_three_significant_digits(number: float, text: str) -> None:
    assert format_number(number) == text


@given(st.floats(1e-3, 1e6))
def test_written_number_is_within_half_a_percent(number: float) -> None:
    assert float(format_number(number).lstrip(">")) == pytest.approx(number, rel=5.1e-3)


def test_values_come_in_peoples_units_with_provenance_and_interval() -> None:
    latency = Value(value=1.234e-3, unit="s", low=1.2e-3, high=1.26e-3)
    assert format_value("latency_p50", latency, interval=True) == "1.23 ms (1.20–1.26)"
    assert format_value("energy", Value(value=8e-4, unit="J", provenance="estimated")) == "0.800 mJ estimated"
    assert format_value("throughput", Value(value=1234.0, unit="1/s")) == "1230/s"
    assert format_value("memory", Value(value=None, unit="bytes")) == "unknown"


def test_interval_with_a_negative_end_is_readable() -> None:
    drop = Value(value=0.001, unit="1", low=-0.002, high=0.004)
    assert format_value("accuracy_drop", drop, interval=True) == "0.00100 (-0.00200 to 0.00400)"


def test_less_latency_and_more_throughput_are_both_more_than_one() -> None:
    ratio = Value(value=0.5, unit="1", low=0.4, high=0.8)
    assert format_ratio("latency_p50", ratio) == "2.00× (1.25–2.50)"
    assert format_ratio("throughput", ratio) == "0.500× (0.400–0.800)"


@given(st.floats(0.1, 10), st.floats(0, 0.5), st.sampled_from(["latency_p50", "throughput"]))
def test_interval_that_holds_one_is_undecided(number: float, spread: float, name: str) -> None:
    ratio = Value(value=number, unit="1", low=number * (1 - spread), high=number * (1 + spread))
    low, high = improvement(name, ratio).interval()
    assert (certainty(name, ratio) == "undecided") == (low <= 1 <= high)
