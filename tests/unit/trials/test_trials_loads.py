from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from autotune.core.candidate import Candidate
from autotune.core.model import BatchAxis, ModelFacts, TensorFacts
from autotune.core.workload import Phase, Shape, Workload
from autotune.data import batches, open_data, open_dataset
from autotune_trials.loads import phase_loads

MODEL = ModelFacts(
    path=Path("m.onnx"), format="onnx", sha256="0", files=("m.onnx",), size_bytes=1,
    inputs=(TensorFacts(name="ids", dtype="int64", shape=("N", "seq")),), outputs=(),
    batch=BatchAxis(works=True, symbol="N"), dims={"N": 1, "seq": 8},
)  # fmt: skip
SHAPES = (Shape(dims={"seq": 8}, weight=3), Shape(dims={"seq": 32}))


def loads(workload: Workload, spec: str | None = None, shapes: tuple[Shape, ...] = (), batch: int = 1):
    data = open_data(spec, MODEL, 0, shapes=shapes)
    dataset = open_dataset(data, MODEL)
    bench = SimpleNamespace(
        context=SimpleNamespace(workload=workload, data=data, model=MODEL),
        trial=SimpleNamespace(plan=SimpleNamespace(quality="select")),
        dataset=dataset,
        indices=lambda part: data.split.select,
        inputs=lambda indices, size=1: (inputs for inputs, _ in batches(dataset, indices, MODEL, size)),
    )
    return [load.requests for load in phase_loads(bench, Candidate(batch_size=batch))]


def workload(*scenarios: str, shapes: tuple[Shape, ...] = ()) -> Workload:
    return Workload(name="w", phases=tuple(Phase(scenario=scenario, shapes=shapes) for scenario in scenarios))


def test_without_shapes_only_offline_phases_are_batched() -> None:
    single, offline = loads(workload("single_stream", "offline"), batch=4)
    assert (single.items, single.inputs[0]["ids"].shape) == (1, (1, 8))
    assert (offline.items, offline.inputs[0]["ids"].shape) == (4, (4, 8))
    assert single.shapes == ()
    assert single.cycle == 1


@pytest.mark.parametrize("batch", [1, 4, 64])
def test_requests_of_each_shape_come_in_their_share_and_are_of_that_size(batch: int) -> None:
    [offline] = loads(workload("offline", shapes=SHAPES), shapes=SHAPES, batch=batch)
    assert offline.cycle == 4
    assert len(offline.inputs) % 4 == 0
    assert Counter(offline.shapes[:4]) == {"seq=8": 3, "seq=32": 1}
    for label, inputs in zip(offline.shapes, offline.inputs, strict=True):
        assert inputs["ids"].shape == (batch, int(label.removeprefix("seq=")))


def test_a_phase_without_shapes_beside_one_with_them_is_of_the_models_sizes() -> None:
    mixed = Workload(name="w", phases=(Phase(scenario="single_stream"), Phase(scenario="offline", shapes=SHAPES)))
    single, _ = loads(mixed, shapes=SHAPES)
    assert {inputs["ids"].shape for inputs in single.inputs} == {(1, 8)}
    assert single.shapes == ()


def test_sizes_that_the_users_data_lack_are_made_up(tmp_path: Path) -> None:
    ids = np.full((40, 8), 5)
    np.savez(tmp_path / "d.npz", ids=ids)
    [single] = loads(workload("single_stream", shapes=SHAPES), spec=str(tmp_path / "d.npz"))
    own = [inputs["ids"] for label, inputs in zip(single.shapes, single.inputs, strict=True) if label == "seq=8"]
    assert all((array == 5).all() for array in own)
    assert {inputs["ids"].shape[1] for inputs in single.inputs} == {8, 32}
