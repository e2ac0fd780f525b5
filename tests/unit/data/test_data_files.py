from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autotune.core.errors import UserError
from autotune.core.model import BatchAxis, ModelFacts, TensorFacts
from autotune.data import batches, open_data, open_dataset, sizes_in


def model(*inputs: TensorFacts, batch: str | None = "N", **dims: int) -> ModelFacts:
    axis = BatchAxis(works=False, symbol=batch, reason="not probed")
    return ModelFacts(
        path=Path("m.onnx"), format="onnx", sha256="0", files=("m.onnx",), size_bytes=1,
        inputs=inputs, outputs=(), batch=axis, dims={"N": 1, **dims},
    )  # fmt: skip


def tensor(name: str, *shape: int | str | None, dtype: str = "float32", kind: str = "tensor") -> TensorFacts:
    return TensorFacts(name=name, dtype=dtype, shape=shape, kind=kind)


def npz(folder: Path, **arrays: Any) -> str:
    np.savez(folder / "d.npz", **arrays)
    return str(folder / "d.npz")


CONVERTED = [("float64", "float32"), ("uint8", "float32"), ("int64", "int32"), ("float32", "bfloat16")]
PLAIN = model(tensor("x", "N", 4))


def refusal(spec: str, facts: ModelFacts = PLAIN) -> str:
    with pytest.raises(UserError) as caught:
        open_data(spec, facts, 0)
    assert len(str(caught.value).splitlines()) == 2
    return str(caught.value)


def test_samples_come_without_the_batch_axis_and_batches_with_it(tmp_path: Path) -> None:
    x = np.arange(20, dtype=np.float32).reshape(5, 4)
    data = open_data(npz(tmp_path, x=x, labels=np.arange(5)), PLAIN, 0)
    dataset = open_dataset(data, PLAIN)
    assert (len(dataset), data.count, data.labels) == (5, 5, True)
    inputs, label = dataset.sample(3)
    assert (inputs["x"].tolist(), label) == (x[3].tolist(), 3)
    stacked = list(batches(dataset, [4, 0, 2], PLAIN, batch=2))
    assert [(each["x"].tolist(), labels) for each, labels in stacked] == [
        (x[[4, 0]].tolist(), [4, 0]),
        (x[[2]].tolist(), [2]),
    ]


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
def test_stored_compressed_and_fortran_arrays_read_the_same(tmp_path: Path, write: Any, order: Any) -> None:
    x = np.random.default_rng(0).random((7, 4), dtype=np.float32)
    write(tmp_path / "d.npz", first=np.zeros(7), x=np.asarray(x, order=order))
    facts = model(tensor("x", "N", 4), tensor("first", "N"))
    dataset = open_dataset(open_data(str(tmp_path / "d.npz"), facts, 0), facts)
    assert all(np.array_equal(dataset.sample(i)[0]["x"], x[i]) for i in range(7))


def test_a_folder_of_npy_files_is_read_by_name(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((3, 4), np.float32))
    np.save(tmp_path / "labels.npy", np.array(["a", "b", "c"]))
    data = open_data(str(tmp_path), PLAIN, 0)
    assert open_dataset(data, PLAIN).sample(1)[1] == "b"
    assert data.path == tmp_path


def test_the_hash_follows_the_contents(tmp_path: Path) -> None:
    first = open_data(npz(tmp_path, x=np.ones((3, 4), np.float32)), PLAIN, 0).sha256
    again = open_data(npz(tmp_path, x=np.ones((3, 4), np.float32)), PLAIN, 1).sha256
    other = open_data(npz(tmp_path, x=np.zeros((3, 4), np.float32)), PLAIN, 0).sha256
    assert first == again != other


def test_a_fixed_first_axis_of_one_may_be_left_out_or_not(tmp_path: Path) -> None:
    facts = model(tensor("x", 1, 4), batch=None)
    for shape in ((3, 4), (3, 1, 4)):
        spec = npz(tmp_path, x=np.ones(shape, np.float32))
        (inputs, labels) = next(batches(open_dataset(open_data(spec, facts, 0), facts), [0], facts))
        assert (inputs["x"].shape, labels) == ((1, 4), [None])


def test_without_a_batch_axis_samples_cannot_be_stacked(tmp_path: Path) -> None:
    facts = model(tensor("x", 2, 4), batch=None)
    dataset = open_dataset(open_data(npz(tmp_path, x=np.ones((3, 2, 4), np.float32)), facts, 0), facts)
    with pytest.raises(ValueError, match="batch=2"):
        next(batches(dataset, [0, 1], facts, batch=2))


def test_a_scalar_input_is_fed_as_a_scalar(tmp_path: Path) -> None:
    facts = model(tensor("x", 2, 4), tensor("rate", dtype="int64"), batch=None)
    spec = npz(tmp_path, x=np.ones((3, 2, 4), np.float32), rate=np.array([8, 8, 8]))
    assert open_dataset(open_data(spec, facts, 0), facts).sample(0)[0]["rate"].shape == ()


@pytest.mark.parametrize(("found", "needed"), CONVERTED)
def test_types_of_one_kind_are_converted(tmp_path: Path, found: str, needed: str) -> None:
    facts = model(tensor("x", "N", 4, dtype=needed))
    spec = npz(tmp_path, x=np.ones((3, 4), found))
    assert open_dataset(open_data(spec, facts, 0), facts).sample(0)[0]["x"].dtype.name == needed


def test_an_integer_too_large_for_the_model_s_type_is_said(tmp_path: Path) -> None:
    facts = model(tensor("x", "N", 1, dtype="int8"))
    dataset = open_dataset(open_data(npz(tmp_path, x=np.array([[1], [300]])), facts, 0), facts)
    with pytest.raises(UserError, match="sample 1 of 'x'"):
        dataset.sample(1)


def test_a_missing_input_is_named_with_the_nearest(tmp_path: Path) -> None:
    text = refusal(npz(tmp_path, imagee=np.ones((3, 4))), model(tensor("image", "N", 4)))
    assert "'image' (did you mean 'imagee'?)" in text


def test_an_unknown_array_is_named_with_the_nearest(tmp_path: Path) -> None:
    text = refusal(npz(tmp_path, x=np.ones((3, 4)), label=np.ones(3)))
    assert "'label' is no input" in text
    assert "labels go under 'labels'" in text


def test_a_type_that_does_not_fit_is_said_with_both(tmp_path: Path) -> None:
    text = refusal(npz(tmp_path, x=np.ones((3, 4))), model(tensor("x", "N", 4, dtype="int64")))
    assert "float64" in text
    assert "int64" in text


@pytest.mark.parametrize("shape", [(3, 5), (3, 1, 4), (3,)])
def test_a_shape_that_does_not_fit_is_said(tmp_path: Path, shape: tuple[int, ...]) -> None:
    text = refusal(npz(tmp_path, x=np.ones(shape, np.float32)))
    assert str(shape) in text
    assert "(samples, 4)" in text


def test_the_axis_that_does_not_fit_is_named(tmp_path: Path) -> None:
    assert "axis 1 of 'x' is 5, the model needs 4" in refusal(npz(tmp_path, x=np.ones((3, 5))))


def test_a_symbol_has_one_size_across_inputs(tmp_path: Path) -> None:
    facts = model(tensor("a", "N", "S"), tensor("b", "N", "S"))
    text = refusal(npz(tmp_path, a=np.ones((3, 5)), b=np.ones((3, 6))), facts)
    assert "axis 1 of 'b' is 6, but S is 5 in 'a'" in text


def test_the_arrays_tell_the_sizes_of_symbols_but_the_batch(tmp_path: Path) -> None:
    facts = model(tensor("a", "N", "S"), tensor("b", "N", "P", "S + P"))
    spec = npz(tmp_path, a=np.ones((3, 5)), b=np.ones((3, 6, 11)))
    assert sizes_in(spec, facts) == {"S": 5, "P": 6}
    assert sizes_in(None, facts) == {}


def test_unequal_counts_are_said(tmp_path: Path) -> None:
    assert "'labels' has 2 samples, 'x' has 3" in refusal(npz(tmp_path, x=np.ones((3, 4)), labels=np.ones(2)))


def test_no_samples_are_said(tmp_path: Path) -> None:
    assert "no samples" in refusal(npz(tmp_path, x=np.ones((0, 4))))


def test_labels_alone_are_no_data(tmp_path: Path) -> None:
    assert "nothing but labels" in refusal(npz(tmp_path, labels=np.ones(3)))


def test_python_objects_are_refused_unread(tmp_path: Path) -> None:
    ragged = np.empty(2, dtype=object)
    ragged[:] = [[1], [1, 2]]
    assert "Python objects" in refusal(npz(tmp_path, x=ragged))


def test_a_single_number_is_refused(tmp_path: Path) -> None:
    assert "single number" in refusal(npz(tmp_path, x=np.float32(1)))


def test_an_input_that_is_no_tensor_is_refused(tmp_path: Path) -> None:
    facts = model(tensor("x", "N", kind="sequence"), batch=None)
    assert "of the type sequence" in refusal(npz(tmp_path, x=np.ones((3, 4))), facts)


def test_an_input_called_labels_is_an_input(tmp_path: Path) -> None:
    data = open_data(npz(tmp_path, labels=np.ones((3, 4), np.float32)), model(tensor("labels", "N", 4)), 0)
    assert not data.labels


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("absent.npz", None, "no file or folder"),
        ("d.csv", b"1,2", "not an .npz file"),
        ("d.npz", b"garbage", "cannot be read as .npz"),
        ("d.npz", b"", "cannot be read as .npz"),
        ("empty/", None, "neither .npy files nor images"),
        ("pictures/a.png", b"", "takes no images"),
        ("broken/x.npy", b"garbage", "cannot be read as .npy"),
        ("broken/x.npy", b"", "cannot be read as .npy"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str, content: bytes | None, says: str) -> None:
    path = tmp_path / name
    (path if name.endswith("/") else path.parent).mkdir(exist_ok=True)
    if content is not None:
        path.write_bytes(content)
    assert says in refusal(str(path.parent if path.parent != tmp_path else path))


def test_steps_for_images_are_refused_for_arrays(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--preprocess is for image folders"):
        open_data(npz(tmp_path, x=np.ones((3, 4), np.float32)), PLAIN, 0, preprocess="crop=4")


def test_truncated_archives_are_refused(tmp_path: Path) -> None:
    path = Path(npz(tmp_path, x=np.ones((3, 4), np.float32)))
    path.write_bytes(path.read_bytes()[:-30])
    assert "cannot be read as .npz" in refusal(str(path))


def test_a_truncated_npy_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((3, 4), np.float32))
    path = tmp_path / "x.npy"
    path.write_bytes(path.read_bytes()[:-8])
    assert "truncated" in refusal(str(tmp_path))


@pytest.mark.parametrize(("dtype", "stored"), [("bfloat16", "float32"), ("float8_e5m2", "float32"), ("int4", "int8")])
def test_types_that_no_file_holds_are_asked_for_as_one_that_does(tmp_path: Path, dtype: str, stored: str) -> None:
    facts = model(tensor("x", "N", 4, dtype=dtype))
    assert f"astype({stored!r})" in refusal(npz(tmp_path, x=np.zeros((3, 4), "V2")), facts)
    assert open_data(str(npz(tmp_path, x=np.zeros((3, 4), stored))), facts, 0).count == 3
