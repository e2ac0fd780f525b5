from __future__ import annotations

import math

import pytest

from autotune.core.simulated_pairs import log_difference
from autotune.core.values import Value


def around(value: float, width: float, common: float | None = None) -> Value:
    return Value(value=value, low=value / width, high=value * width, unit="USD", provenance="simulated", common=common)


def test_what_two_values_have_in_common_says_nothing_of_their_difference() -> None:
    low, high = log_difference(around(1.0, 1.5, 1.0), around(1.1, 1.5, 1.0), paired=True)
    assert low == pytest.approx(high) == pytest.approx(math.log(1.1))


def test_independent_errors_add_in_quadrature() -> None:
    low, high = log_difference(around(1.0, 1.3, 0.9), around(1.0, 1.3, 0.9), paired=False)
    assert high == pytest.approx(math.log(1.3) * math.sqrt(2))
    assert low == -high


@pytest.mark.parametrize("common", [None, 0.0])
def test_of_an_unknown_share_nothing_is_in_common(common: float | None) -> None:
    paired = log_difference(around(1.0, 1.3, common), around(1.2, 1.2, common), paired=True)
    assert paired == log_difference(around(1.0, 1.3), around(1.2, 1.2), paired=False)


def test_a_value_that_the_common_error_moves_more_keeps_that_difference() -> None:
    low, high = log_difference(around(1.0, 1.1, 1.0), around(1.0, 1.5, 1.0), paired=True)
    assert high - low == pytest.approx(2 * math.log(1.5 / 1.1))


def test_counts_without_intervals_differ_exactly() -> None:
    one, other = Value(value=4.0, unit="1"), Value(value=8.0, unit="1")
    assert log_difference(one, other, paired=True) == (math.log(2), math.log(2))
