from __future__ import annotations

import numpy as np

from autotune.measure.steady import WINDOW, drifts, is_steady, steady_enough, trend


def share_steady(make, repeats: int = 200) -> float:
    generator = np.random.default_rng(0)
    return float(np.mean([is_steady(make(generator)) for _ in range(repeats)]))


def test_a_noisy_stationary_series_is_steady() -> None:
    assert share_steady(lambda generator: 1 + 0.2 * generator.standard_normal(WINDOW)) > 0.9


def test_a_bimodal_series_is_steady() -> None:
    assert share_steady(lambda generator: 1 + 0.5 * generator.integers(0, 2, WINDOW)) > 0.9


def test_a_warming_series_is_not_steady_until_it_has_warmed() -> None:
    series = 1 + 2 * np.exp(-np.arange(40) / 5)
    assert not is_steady(series[:10])
    assert is_steady(series)


def test_a_rising_series_is_not_steady() -> None:
    assert not is_steady(np.linspace(1, 1.3, WINDOW))


def test_too_few_numbers_are_not_steady() -> None:
    assert not is_steady(np.ones(WINDOW - 1))


def test_a_slow_model_that_no_longer_changes_passes() -> None:
    assert steady_enough(np.asarray([3.0, 1.01, 1.0]))
    assert not steady_enough(np.asarray([3.0, 2.0, 1.0]))
    assert not steady_enough(np.asarray([1.0]))


def test_measured_rounds_that_move_are_said_to_drift() -> None:
    generator = np.random.default_rng(1)
    noise = 1 + 0.02 * generator.standard_normal(40)
    assert not drifts(noise)
    assert drifts(noise * np.linspace(1, 1.2, 40))
    assert not drifts(noise[:3])


def test_trend_is_signed_and_relative() -> None:
    score, change = trend(np.linspace(2.0, 1.0, 11))
    assert score < -3
    assert change == (1.0 - 2.0) / 1.5
