"""A load that mixes shapes, made again beside an exported folder."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from autotune.core.deployment import ExportedConfig, Promise
from autotune.core.workload import Phase, Shape, Workload
from autotune.replay.facts import facts_of
from autotune.replay.loads import phase_loads
from autotune.replay.mixtures import lacking, mixes
from autotune.testing.onnx_models import embedding

SHAPES = (Shape(dims={"seq": 4}, weight=3), Shape(dims={"seq": 16}))
MIXED = Workload(name="w", phases=tuple(Phase(scenario=name, shapes=SHAPES) for name in ("single_stream", "offline")))  # type: ignore[arg-type]
SAMPLES = [{"ids": np.full((1, 4), number, dtype=np.int64)} for number in range(8)]


def config(**dims: int) -> ExportedConfig:
    promise = Promise(metrics={}, workload=MIXED, dims=dims)
    session = ExportedConfig.model_fields["session"].annotation()  # type: ignore[misc]
    return ExportedConfig.model_construct(session=session, promise=promise)


@pytest.mark.parametrize("batch", [1, 2])
def test_requests_of_each_shape_come_in_their_share_the_samples_where_they_are_of_that_size(
    tmp_path: Path, batch: int
) -> None:
    facts = facts_of(embedding(tmp_path / "m.onnx"), config(), tmp_path)
    single, offline = phase_loads(MIXED, SAMPLES, batch, facts=facts)
    for load, rows in ((single.requests, 1), (offline.requests, batch)):
        assert load.items == rows
        assert Counter(load.shapes[: load.cycle]) == {"seq=4": 3, "seq=16": 1}
        for label, inputs in zip(load.shapes, load.inputs, strict=True):
            assert inputs["ids"].shape == (rows, int(label.removeprefix("seq=")))
    sent = [
        inputs["ids"][0, 0]
        for label, inputs in zip(single.requests.shapes, single.requests.inputs, strict=True)
        if label == "seq=4"
    ]
    assert sent[:8] == list(range(8))


def test_other_dimensions_have_the_size_that_was_measured(tmp_path: Path) -> None:
    model = embedding(tmp_path / "m.onnx")
    assert facts_of(model, config(seq=7, gone=3), tmp_path).dims["seq"] == 7
    assert facts_of(model, config(), tmp_path).dims["seq"] == 128


def test_a_dimension_that_the_model_does_not_name_is_told(tmp_path: Path) -> None:
    fixed = facts_of(embedding(tmp_path / "m.onnx", length=4), config(), tmp_path)
    assert mixes(MIXED)
    assert lacking(MIXED, fixed) == ["seq"]
