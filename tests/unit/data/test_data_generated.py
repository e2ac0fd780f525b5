from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.core.errors import UserError
from autotune.core.model import BatchAxis, ModelFacts, TensorFacts
from autotune.core.workload import Shape
from autotune.data import batches, open_data, open_dataset
from autotune.data.generated import GeneratedDataset

DTYPES = [
    "float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "complex64",
    "int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool",
]  # fmt: skip


def model(*inputs: TensorFacts, batch: str | None = "N", **dims: int) -> ModelFacts:
    axis = BatchAxis(works=False, symbol=batch, reason="not probed")
    return ModelFacts(
        path=Path("m.onnx"), format="onnx", sha256="0", files=("m.onnx",), size_bytes=1,
        inputs=inputs, outputs=(), batch=axis, dims={"N": 1, **dims},
    )  # fmt: skip


def tensor(name: str, *shape: int | str | None, dtype: str = "float32", **facts: object) -> TensorFacts:
    return TensorFacts.model_validate({"name": name, "dtype": dtype, "shape": shape, **facts})


def drawn(one: TensorFacts, **dims: int) -> np.ndarray:
    return GeneratedDataset(model(one, **dims), seed=0).sample(0)[0][one.name]


@pytest.mark.parametrize("dtype", DTYPES)
def test_inputs_are_true_to_type_and_shape(dtype: str) -> None:
    array = drawn(tensor("x", "N", "S", 3, dtype=dtype), S=5)
    assert (array.dtype.name, array.shape) == (dtype, (5, 3))


def test_the_same_seed_and_index_give_the_same_and_others_do_not() -> None:
    facts = model(tensor("x", "N", 8))
    first, again, other = (GeneratedDataset(facts, seed) for seed in (0, 0, 1))
    assert np.array_equal(first.sample(5)[0]["x"], again.sample(5)[0]["x"])
    assert not np.array_equal(first.sample(5)[0]["x"], first.sample(6)[0]["x"])
    assert not np.array_equal(first.sample(5)[0]["x"], other.sample(5)[0]["x"])


@given(st.integers(1, 1000), st.integers(0, 50))
def test_ids_lie_within_their_table(rows: int, index: int) -> None:
    facts = model(tensor("ids", "N", 16, dtype="int64", low=0, high=rows - 1))
    ids = GeneratedDataset(facts, 0).sample(index)[0]["ids"]
    assert ids.min() >= 0
    assert ids.max() < rows


def test_masks_are_ones_segments_zeros_and_positions_counted() -> None:
    assert drawn(tensor("attention_mask", "N", 4, dtype="int64")).tolist() == [1, 1, 1, 1]
    assert drawn(tensor("attention_mask", "N", 2, dtype="bool")).tolist() == [True, True]
    assert drawn(tensor("attention_mask", "N", 2)).tolist() == [1, 1]
    assert drawn(tensor("token_type_ids", "N", 4, dtype="int64", low=0, high=1)).tolist() == [0, 0, 0, 0]
    assert drawn(tensor("position_ids", "N", 4, dtype="int64", low=0, high=2)).tolist() == [0, 1, 2, 2]


def test_images_lie_between_zero_and_one_and_bytes_fill_their_range() -> None:
    picture = drawn(tensor("x", "N", 3, 32, 32))
    assert 0 <= picture.min() < 0.1 < 0.9 < picture.max() <= 1
    assert drawn(tensor("x", "N", 64, 64, 3, dtype="uint8")).max() > 250


def test_strings_are_short_words() -> None:
    words = drawn(tensor("words", "N", 3, dtype="str"))
    assert words.dtype.kind == "U"
    assert all(2 <= len(word) <= 8 for word in words)


def test_empty_axes_and_scalars_work() -> None:
    assert drawn(tensor("x", "N", "S"), S=0).shape == (0,)
    facts = model(tensor("rate", dtype="int64"), tensor("past", 2, 0, 4), batch=None)
    inputs, _ = next(batches(GeneratedDataset(facts, 0), [0], facts))
    assert (inputs["rate"].shape, inputs["past"].shape) == ((), (2, 0, 4))


def test_without_data_sixty_four_samples_are_generated_and_split() -> None:
    facts = model(tensor("x", "N", 8))
    data = open_data(None, facts, 3)
    assert (data.path, data.count, data.labels, data.seed) == (None, 64, False, 3)
    assert len(open_dataset(data, facts)) == 64
    assert data.sha256 != open_data(None, facts, 4).sha256


@pytest.mark.parametrize("kind", ["sequence", "optional", "map"])
def test_what_is_no_tensor_is_refused_without_asking_for_data_that_cannot_help(kind: str) -> None:
    with pytest.raises(UserError, match=f"of the type {kind}.*\n(?!.*--data)"):
        open_data(None, model(tensor("x", "N", kind=kind), batch=None), 0)


def test_inputs_that_no_memory_holds_are_refused_with_their_sizes() -> None:
    facts = model(tensor("x", "N", 3, "h", "w"), h=10**6, w=10**6)
    with pytest.raises(UserError, match=r"GiB.*\n.*--dim h=1000000"):
        open_data(None, facts, 0)
    with pytest.raises(UserError, match="w=1000000000000"):
        open_data(None, model(tensor("x", "N", "w"), w=4), 0, shapes=(Shape(dims={"w": 4}), Shape(dims={"w": 10**12})))


def test_an_unknown_rank_asks_for_data() -> None:
    with pytest.raises(UserError, match="unknown rank"):
        open_data(None, model(TensorFacts(name="x", dtype="float32", shape=None), batch=None), 0)
