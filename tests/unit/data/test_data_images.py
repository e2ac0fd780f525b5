from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from autotune.core.errors import UserError
from autotune.core.model import BatchAxis, ModelFacts, TensorFacts
from autotune.data import open_data, open_dataset, sizes_in
from autotune.data.preprocess import parse_preprocess


def model(*shape: int | str, dtype: str = "float32", inputs: int = 1, **dims: int) -> ModelFacts:
    batch = shape[0] if isinstance(shape[0], str) else None
    tensors = tuple(TensorFacts(name=f"image{n or ''}", dtype=dtype, shape=shape) for n in range(inputs))
    return ModelFacts(
        path=Path("m.onnx"), format="onnx", sha256="0", files=("m.onnx",), size_bytes=1, inputs=tensors, outputs=(),
        batch=BatchAxis(works=False, symbol=batch, reason="not probed"), dims={"N": 1, **dims},
    )  # fmt: skip


NCHW = model("N", 3, 4, 6)


def draw(file: Path, pixels: np.ndarray | None = None, size: tuple[int, int] = (4, 6)) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    shown = np.full((*size, 3), 51, np.uint8) if pixels is None else pixels
    Image.fromarray(shown).save(file)
    return file


@pytest.fixture
def ramp() -> np.ndarray:
    return np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)


def sample(folder: Path, facts: ModelFacts = NCHW, preprocess: str | None = None, index: int = 0):
    data = open_data(str(folder), facts, 0, preprocess)
    return open_dataset(data, facts).sample(index)


def refusal(folder: Path, facts: ModelFacts = NCHW, preprocess: str | None = None) -> str:
    with pytest.raises(UserError) as caught:
        sample(folder, facts, preprocess)
    assert len(str(caught.value).splitlines()) == 2
    return str(caught.value)


def test_without_steps_pixels_are_divided_by_255(tmp_path: Path, ramp) -> None:
    draw(tmp_path / "a.png", ramp)
    inputs, label = sample(tmp_path)
    assert label is None
    assert inputs["image"].dtype == np.float32
    assert inputs["image"] == pytest.approx(ramp.transpose(2, 0, 1) / 255)


def test_channels_last_follows_the_models_input(tmp_path: Path, ramp) -> None:
    draw(tmp_path / "a.png", ramp)
    inputs, _ = sample(tmp_path, model("N", 4, 6, 3))
    assert inputs["image"] == pytest.approx(ramp / 255)


def test_bytes_are_fed_as_they_are(tmp_path: Path, ramp) -> None:
    draw(tmp_path / "a.png", ramp)
    inputs, _ = sample(tmp_path, model("N", 4, 6, 3, dtype="uint8"))
    assert np.array_equal(inputs["image"], ramp)


def test_mean_std_scale_and_order_of_channels(tmp_path: Path, ramp) -> None:
    draw(tmp_path / "a.png", ramp)
    inputs, _ = sample(tmp_path, model("N", 4, 6, 3), "scale=1 mean=1,2,3 std=2 channels=bgr")
    assert inputs["image"] == pytest.approx((ramp[:, :, ::-1] - np.asarray([1.0, 2.0, 3.0])) / 2)


def test_a_grey_model_gets_one_channel(tmp_path: Path) -> None:
    draw(tmp_path / "a.png")
    inputs, _ = sample(tmp_path, model("N", 1, 4, 6))
    assert inputs["image"].shape == (1, 4, 6)


def test_a_first_axis_of_one_that_is_no_batch_is_added(tmp_path: Path) -> None:
    draw(tmp_path / "a.png")
    assert sample(tmp_path, model(1, 3, 4, 6))[0]["image"].shape == (1, 3, 4, 6)


def test_the_shorter_side_is_resized_and_the_centre_cropped(tmp_path: Path) -> None:
    wide = np.zeros((20, 60, 3), np.uint8)
    wide[:, 25:35] = 255
    draw(tmp_path / "a.png", wide)
    inputs, _ = sample(tmp_path, model("N", 3, 8, 8), "resize=10 crop=8")
    assert inputs["image"].shape == (3, 8, 8)
    assert inputs["image"][0, 4, 2:6] == pytest.approx(1)
    assert inputs["image"][0, :, 0].max() < 0.01


def test_sizes_of_symbolic_axes_follow_from_the_steps(tmp_path: Path) -> None:
    draw(tmp_path / "a.png")
    facts = model("N", 3, "height", "width", height=224, width=224)
    assert sizes_in(str(tmp_path), facts, "resize=8x10") == {"height": 8, "width": 10}


def test_class_folders_number_their_names_in_order(tmp_path: Path) -> None:
    for name in ("dog", "cat", "bird"):
        draw(tmp_path / name / "1.png")
    data = open_data(str(tmp_path), NCHW, 0)
    dataset = open_dataset(data, NCHW)
    assert data.labels
    assert [dataset.sample(index)[1] for index in range(3)] == [0, 1, 2]


def test_class_folders_that_are_numbers_are_the_labels(tmp_path: Path) -> None:
    for name in ("9", "10"):
        draw(tmp_path / name / "1.png")
    dataset = open_dataset(open_data(str(tmp_path), NCHW, 0), NCHW)
    assert [dataset.sample(index)[1] for index in range(2)] == [10, 9]


@pytest.mark.parametrize("header", ["file,label", "\ufefffile,label", "label,filename"])
def test_a_table_gives_labels_and_order(tmp_path: Path, header: str) -> None:
    rows = [("b.png", "7"), ("a.png", "3")]
    for name, _ in rows:
        draw(tmp_path / name)
    lines = [",".join(row if header.endswith("label") else row[::-1]) for row in rows]
    (tmp_path / "labels.csv").write_text("\n".join([header, *lines]), encoding="utf-8")
    dataset = open_dataset(open_data(str(tmp_path), NCHW, 0), NCHW)
    assert [dataset.sample(index)[1] for index in range(2)] == [7, 3]


@pytest.mark.parametrize(
    ("labels", "expected"), [(["0.5", "-1"], [0.5, -1.0]), (["-1", "2"], [-1, 2]), (["b", "a"], [1, 0])]
)
def test_labels_of_a_table_are_numbers_or_counted_names(tmp_path: Path, labels: list[str], expected: list) -> None:
    for number in range(2):
        draw(tmp_path / f"{number}.png")
    rows = [f"{number}.png,{label}" for number, label in enumerate(labels)]
    (tmp_path / "labels.csv").write_text("\n".join(["file,label", *rows]))
    dataset = open_dataset(open_data(str(tmp_path), NCHW, 0), NCHW)
    assert [dataset.sample(index)[1] for index in range(2)] == expected


def test_the_hash_follows_images_and_steps(tmp_path: Path, ramp) -> None:
    draw(tmp_path / "a.png", ramp)
    first = open_data(str(tmp_path), NCHW, 0).sha256
    steps = open_data(str(tmp_path), NCHW, 0, "mean=0.5").sha256
    assert first == open_data(str(tmp_path), NCHW, 1, "").sha256 != steps
    draw(tmp_path / "a.png", ramp + 1)
    assert open_data(str(tmp_path), NCHW, 0).sha256 != first


def test_steps_are_described_in_full_and_opened_again(tmp_path: Path) -> None:
    draw(tmp_path / "a.png")
    data = open_data(str(tmp_path), NCHW, 0, "std=0.498039216  resize=4x6")
    assert data.preprocess == "resize=4x6 std=0.498039216"
    assert parse_preprocess(data.preprocess) == parse_preprocess("std=0.498039216 resize=4x6")


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ("rezize=4", "did you mean 'resize'?"),
        ("resize=", "has no value"),
        ("resize=0", "is no size"),
        ("crop=4x", "is no size"),
        ("crop=4 crop=5", "occurs twice"),
        ("mean=a", "is no list of numbers"),
        ("mean=127.5 std=127.5", "above 1"),
        ("std=0", "above 0"),
        ("resize=3 crop=4", "larger than the resized image"),
        ("channels=grb", "neither rgb nor bgr"),
        ("resize=4x7", "7 pixels wide, the model takes 6"),
        ("resize=4", "images differ in size"),
        ("mean=0.1,0.2", "takes 3 channels"),
    ],
)
def test_a_step_that_cannot_be_done_is_named(tmp_path: Path, steps: str, says: str) -> None:
    draw(tmp_path / "a.png")
    assert says in refusal(tmp_path, preprocess=steps)


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        (model("N", 3, 4, 6, inputs=2), "the model has 2: image, image1"),
        (model("N", 5), "takes no images"),
        (model("N", 5, 4, 6), "takes no images"),
        (model("N", 3, 4, 6, dtype="int64"), "is int64"),
        (model("N", 3, "h", "w", h=224, w=224), "any size"),
        (model("N", 3, "s", "s", s=224), "any size"),
    ],
)
def test_a_model_that_takes_no_such_images_is_told(tmp_path: Path, facts: ModelFacts, says: str) -> None:
    draw(tmp_path / "a.png")
    assert says in refusal(tmp_path, facts)


def test_a_damaged_image_is_named(tmp_path: Path, ramp) -> None:
    whole = draw(tmp_path / "a.png", np.tile(ramp, (40, 40, 1))).read_bytes()
    (tmp_path / "a.png").write_bytes(whole[:20])
    assert "a.png" in refusal(tmp_path)
    (tmp_path / "a.png").write_bytes(whole[: len(whole) // 2])
    assert "a.png cannot be read" in refusal(tmp_path)


def test_an_image_smaller_than_the_crop_is_named(tmp_path: Path) -> None:
    draw(tmp_path / "small.png")
    assert "small.png is 4x6" in refusal(tmp_path, model("N", 3, 8, 8), "crop=8")


def test_an_image_beside_class_folders_is_named(tmp_path: Path) -> None:
    draw(tmp_path / "cat" / "1.png")
    draw(tmp_path / "stray.png")
    assert "stray.png lies beside the class folders" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("name,class\na.png,1", "columns name, class"),
        ("", "columns none"),
        ("file,label", "lists no images"),
        ("file,label\na.png,", "line 2 lacks"),
        ("file,label\nb.png,1", "no file b.png"),
        ("file,label\n../a.png,1", "outside the folder"),
    ],
)
def test_a_tables_mistake_is_named(tmp_path: Path, table: str, says: str) -> None:
    draw(tmp_path / "a.png")
    (tmp_path / "labels.csv").write_text(table)
    assert says in refusal(tmp_path)
