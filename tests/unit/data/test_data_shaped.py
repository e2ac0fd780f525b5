from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.core.model import BatchAxis, ModelFacts, TensorFacts
from autotune.core.workload import Shape
from autotune.data import batches_at, mixed_order, open_data, open_dataset

FACTS = ModelFacts(
    path=Path("m.onnx"), format="onnx", sha256="0", files=("m.onnx",), size_bytes=1,
    inputs=(
        TensorFacts(name="ids", dtype="int64", shape=("N", "seq"), low=0, high=9),
        TensorFacts(name="mask", dtype="int64", shape=("N", "past + seq")),
    ),
    outputs=(), batch=BatchAxis(works=True, symbol="N"), dims={"N": 1, "seq": 8, "past": 2, "past + seq": 10},
)  # fmt: skip
SHAPES = (Shape(dims={"seq": 8}), Shape(dims={"seq": 16}))


def test_the_cycle_is_the_shortest_that_holds_the_shares() -> None:
    assert Counter(mixed_order([0.7, 0.3])) == {0: 7, 1: 3}
    assert mixed_order([1, 1, 1]) == (0, 1, 2)
    assert mixed_order([5.0]) == (0,)


def test_equal_requests_are_spread_evenly() -> None:
    assert mixed_order([3, 1]) == (0, 0, 1, 0)


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=40))
def test_every_shape_occurs_whatever_the_weights(weights: list[float]) -> None:
    order = mixed_order(weights)
    assert set(order) == set(range(len(weights)))
    assert len(order) <= max(32, len(weights))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_any_window_of_a_cycles_length_holds_the_same_requests(weights: list[int]) -> None:
    order = mixed_order(weights)
    twice = order * 2
    windows = [Counter(twice[start : start + len(order)]) for start in range(len(order))]
    assert all(window == windows[0] for window in windows)


def test_generated_samples_take_the_shapes_in_turn() -> None:
    data = open_data(None, FACTS, 0, shapes=SHAPES)
    dataset = open_dataset(data, FACTS)
    shapes = [{name: array.shape for name, array in dataset.sample(index)[0].items()} for index in range(2)]
    assert shapes == [{"ids": (8,), "mask": (10,)}, {"ids": (16,), "mask": (18,)}]
    assert data.sha256 != open_data(None, FACTS, 0).sha256


def test_requests_are_the_datas_own_where_it_has_that_size() -> None:
    data = open_data(None, FACTS, 0, shapes=SHAPES)
    stream, own = batches_at(open_dataset(data, FACTS), range(20), FACTS, {"seq": 16}, 3, varying=True)
    requests = list(islice(stream, 10))
    assert own
    assert {(one["ids"].shape, one["mask"].shape) for one in requests} == {((3, 16), (3, 18))}


@pytest.mark.parametrize(("size", "expected"), [(8, True), (32, False)])
def test_requests_of_a_size_that_the_data_lack_are_generated(tmp_path: Path, size: int, expected: bool) -> None:
    ids = np.zeros((40, 8), np.int64)
    np.savez(tmp_path / "d.npz", ids=ids, mask=np.ones((40, 10), np.int64))
    dataset = open_dataset(open_data(str(tmp_path / "d.npz"), FACTS, 0), FACTS)
    stream, own = batches_at(dataset, range(20), FACTS, {"seq": size}, 2, varying=False)
    assert own is expected
    assert next(stream)["mask"].shape == (2, size + 2)
