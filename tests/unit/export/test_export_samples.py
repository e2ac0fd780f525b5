from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autotune.core.errors import UserError
from autotune.replay.samples import ReplaySamples, collect_samples, read_samples, write_samples

NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_every_tensor_name_survives(tmp_path: Path, names: list[str]) -> None:
    request = {name: np.array([index]) for index, name in enumerate(names)}
    file = tmp_path / "samples.npz"
    write_samples(file, ReplaySamples((request,), (request,)))
    found = read_samples(file)
    for read in (found.inputs[0], found.outputs[0]):
        assert {name: int(array[0]) for name, array in read.items()} == {
            name: index for index, name in enumerate(names)
        }


def test_names_that_differ_by_the_suffix_of_npy_files_are_told_apart(tmp_path: Path) -> None:
    request = {"x": np.array([1]), "x.npy": np.array([2])}
    write_samples(tmp_path / "s.npz", ReplaySamples((request,), (request,)))
    assert {name: int(array[0]) for name, array in read_samples(tmp_path / "s.npz").inputs[0].items()} == {
        "x": 1,
        "x.npy": 2,
    }


def test_strings_and_labels_survive_without_pickling(tmp_path: Path) -> None:
    inputs = {"text": np.array(["täglich", "a"], dtype=object), "scalar": np.array("b", dtype=object)}
    write_samples(tmp_path / "s.npz", ReplaySamples((inputs,), ({"y": np.float32([1])},), labels=(3,)))
    found = read_samples(tmp_path / "s.npz")
    assert found.inputs[0]["text"].dtype == object
    assert found.inputs[0]["text"].tolist() == ["täglich", "a"]
    assert found.inputs[0]["scalar"].shape == ()
    assert found.labels == (3,)


def test_at_most_the_limit_is_collected_and_the_original_is_asked_once_each() -> None:
    asked = []

    def original(inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        asked.append(inputs)
        return {"y": inputs["x"]}

    batches = (({"x": np.full((1, 2), index)}, [index]) for index in range(100))
    found = collect_samples(batches, original, limit=5)
    assert len(found) == len(asked) == 5
    assert found.labels == (0, 1, 2, 3, 4)


def test_requests_of_uncommon_shape_are_left_out() -> None:
    shapes = [(1, 2), (1, 3), (1, 2)]
    found = collect_samples((({"x": np.zeros(shape)}, [None]) for shape in shapes), lambda inputs: {"y": inputs["x"]})
    assert [request["x"].shape for request in found.inputs] == [(1, 2), (1, 2)]
    assert found.labels is None


def test_a_model_without_inputs_has_samples_too(tmp_path: Path) -> None:
    requests = [({}, [None]), ({}, [None])]
    write_samples(tmp_path / "s.npz", collect_samples(requests, lambda inputs: {"y": np.zeros(2)}))
    found = read_samples(tmp_path / "s.npz")
    assert found.inputs == ({}, {})
    assert len(found.outputs) == 2


def _cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-30])


def _changed_inside(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[40:80] = b"\xff" * 40
    file.write_bytes(content)


def _emptied(file: Path) -> None:
    file.write_bytes(b"")


def _of_objects(file: Path) -> None:
    np.savez(file, **{"input:x": np.asarray([{}], dtype=object)})


def _uneven(file: Path) -> None:
    np.savez(file, **{"input:x": np.zeros((3, 1)), "output:y": np.zeros((2, 1))})


@pytest.mark.parametrize("damage", [_cut_short, _changed_inside, _emptied, _of_objects, _uneven])
def test_damaged_samples_are_said_to_be_damaged(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    file = tmp_path / "samples.npz"
    request = {"x": np.arange(100)}
    write_samples(file, ReplaySamples((request,), (request,)))
    damage(file)
    with pytest.raises(UserError, match="damaged"):
        read_samples(file)


def test_no_requests_give_no_samples() -> None:
    assert len(collect_samples([], lambda inputs: inputs)) == 0
