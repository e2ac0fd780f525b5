"""Which channels go, and how many of each chain: pure functions."""

from __future__ import annotations

import numpy as np
import pytest

from autotune_backends.transform.onnx.allocation import Product, kept_counts, widths
from autotune_backends.transform.onnx.elimination import Use, eliminated, made_up


@pytest.mark.parametrize(
    ("channels", "block", "legal"), [(32, 8, [32, 24, 16, 8]), (20, 8, [20, 16, 8]), (8, 8, [8]), (12, 16, [12])]
)
def test_channels_are_kept_in_whole_blocks(channels: int, block: int, legal: list[int]) -> None:
    assert widths(channels, block) == legal


def test_of_many_blocks_sixteen_widths_are_considered() -> None:
    legal = widths(3072, 8)
    assert len(legal) == 16
    assert legal[0] - legal[1] == legal[1] - legal[2] == 192


def _even(channels: int, loss: float) -> dict[int, float]:
    return {width: loss * (channels - width) / channels for width in widths(channels, 8)}


def test_as_much_arithmetic_goes_as_the_ratio_says() -> None:
    products = [Product(100, makes=0), Product(1000, makes=1, uses=0), Product(10, uses=1)]
    kept = kept_counts([64, 64], [_even(64, 1.0), _even(64, 1.0)], products, 0.5)
    left = 100 * kept[0] / 64 + 1000 * kept[0] * kept[1] / 64**2 + 10 * kept[1] / 64
    assert left <= 100 / 2 + 1000 / 4 + 10 / 2
    assert kept_counts([64, 64], [_even(64, 1.0)] * 2, products, 0.0) == [64, 64]


def test_the_chain_that_can_spare_its_channels_gives_them() -> None:
    products = [Product(100, makes=0), Product(100, makes=1)]
    assert kept_counts([64, 64], [_even(64, 1.0), _even(64, 0.01)], products, 0.3) == [64, 24]


def test_where_nothing_more_can_be_spared_less_goes_than_was_asked() -> None:
    assert kept_counts([16], [_even(16, 1.0)], [Product(1, makes=0)], 0.7) == [8]


def _activations(channels: int = 24, samples: int = 400) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((samples, channels))


def test_of_two_channels_that_say_the_same_one_goes_first_whatever_its_size() -> None:
    values = _activations()
    values[:, 3] = 10 * values[:, 17]
    use = Use.of(values.T @ values, np.ones((24, 4)))
    found = eliminated([use], [23, 8])
    assert found.order[0] in (3, 17)
    assert found.errors[1] < 1e-3 < found.errors[2]


def test_the_error_that_is_told_is_that_of_the_weights_made_up() -> None:
    values, weights = _activations(), np.random.default_rng(1).standard_normal((24, 5))
    values[:, 12:] += values[:, :12]
    gram = values.T @ values
    found = eliminated([Use.of(gram, weights)], [24, 16, 8])
    for width in (16, 8):
        kept = found.kept(width)
        error = np.sum((values @ weights - values[:, kept] @ made_up(weights, gram, kept)) ** 2)
        assert found.errors[24 - width] == pytest.approx(error / np.sum((values @ weights) ** 2), rel=0.02)


def test_many_channels_go_in_rounds_that_end_at_every_width() -> None:
    values = _activations(300)
    found = eliminated([Use.of(values.T @ values, np.ones((300, 2)))], widths(300, 8))
    assert sorted(found.order) == list(range(300))
    assert all(np.isfinite(found.errors[300 - width]) for width in widths(300, 8))
    assert np.all(np.diff(found.errors[np.isfinite(found.errors)]) >= 0)
