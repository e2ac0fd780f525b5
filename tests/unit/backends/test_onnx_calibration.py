from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from autotune_backends.transform.onnx.calibration import groups
from autotune_backends.transform.onnx.float16 import beyond


@given(st.lists(st.integers(1, 3), max_size=40), st.integers(1, 8))
def test_groups_keep_every_sample_in_order_at_equal_shapes(lengths: list[int], size: int) -> None:
    samples = [{"x": np.full((1, length), number)} for number, length in enumerate(lengths)]
    found = list(groups(samples, size))
    assert [one for group in found for one in group] == samples
    assert all(0 < len(group) <= size for group in found)
    assert all(len({one["x"].shape for one in group}) == 1 for group in found)


def test_samples_are_drawn_only_as_they_are_needed() -> None:
    drawn: list[int] = []

    def samples():  # type: ignore[no-untyped-def]
        for number in range(100):
            drawn.append(number)
            yield {"x": np.zeros(1)}

    next(groups(samples(), 4))
    assert len(drawn) == 5


def ranges(**largest: tuple[float, float]) -> dict[str, SimpleNamespace]:
    return {
        name: SimpleNamespace(range_value=(np.float32([low]), np.float32([high])))
        for name, (low, high) in largest.items()
    }


def test_what_float16_cannot_hold_is_found_on_both_sides_the_worst_first() -> None:
    found = beyond(ranges(small=(-1, 65504), negative=(-1e5, 0), positive=(0, 2e5)))
    assert list(found) == ["positive", "negative"]
