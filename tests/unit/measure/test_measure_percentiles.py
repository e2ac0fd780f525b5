from __future__ import annotations

import numpy as np
import pytest

from autotune.measure.percentiles import least_samples, percentile_interval, supported_percentiles


@pytest.mark.parametrize(("percentile", "count"), [(90, 64), (99, 662)])
def test_least_samples_are_loadgens(percentile: float, count: int) -> None:
    assert least_samples(percentile) == count


@pytest.mark.parametrize(
    ("count", "percentiles"),
    [(662, (90.0, 99.0)), (661, (90.0,)), (64, (90.0,)), (63, (85.0,)), (12, (55.0,)), (3, ())],
)
def test_fewer_samples_give_the_highest_percentile_they_support(count: int, percentiles: tuple[float, ...]) -> None:
    assert supported_percentiles(count) == percentiles


def test_bounds_cover_the_percentile_of_independent_samples() -> None:
    generator, truth, hits = np.random.default_rng(0), -np.log(0.1), 0
    for _ in range(200):
        interval = percentile_interval([generator.exponential(size=40) for _ in range(10)], 90)
        hits += interval.low <= truth <= interval.high
    assert hits / 200 >= 0.92


def test_rounds_that_differ_widen_the_bounds() -> None:
    generator = np.random.default_rng(1)
    alike = [generator.exponential(size=100) for _ in range(10)]
    unlike = [samples * speed for samples, speed in zip(alike, np.linspace(0.5, 1.5, 10), strict=True)]
    widths = [percentile_interval(rounds, 90).half_width for rounds in (alike, unlike)]
    assert widths[1] > 1.5 * widths[0]


def test_a_constant_has_an_interval_of_no_width() -> None:
    interval = percentile_interval([np.ones(70)], 90)
    assert (interval.value, interval.low, interval.high) == (1, 1, 1)
