from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from autotune.data.split import split


@given(st.integers(30, 3000), st.integers(0, 2**32))
def test_parts_are_disjoint_cover_everything_and_are_the_same_again(count: int, seed: int) -> None:
    parts = split(count, seed)
    together = parts.calibrate + parts.select + parts.confirm
    assert sorted(together) == list(range(count))
    assert 1 <= len(parts.calibrate) <= 256
    assert abs(len(parts.select) - len(parts.confirm)) <= 1
    assert not parts.whole
    assert parts == split(count, seed)


@given(st.integers(1, 29), st.integers(0, 99))
def test_few_samples_are_not_split(count: int, seed: int) -> None:
    parts = split(count, seed)
    assert parts.whole
    assert parts.calibrate == parts.select == parts.confirm
    assert sorted(parts.confirm) == list(range(count))


def test_another_seed_splits_otherwise() -> None:
    assert split(100, 0).confirm != split(100, 1).confirm
