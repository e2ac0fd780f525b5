from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autotune.core.errors import UserError
from autotune.core.model import ModelFacts
from autotune.export import ReplaySamples
from autotune.gate.calibration import Calibration
from autotune.models import read_model
from autotune.replay.samples import write_samples
from autotune.testing.onnx_models import mlp

FAR = 1000.0  # from where generated inputs lie


@pytest.fixture
def facts(tmp_path: Path) -> ModelFacts:
    return read_model(mlp(tmp_path / "model.onnx", features=16))


def config(*, generated: bool) -> Any:
    return SimpleNamespace(quality=SimpleNamespace(generated=generated, seed=0))


def with_samples(folder: Path) -> Path:
    inputs = tuple({"x": np.full((1, 16), FAR, np.float32)} for _ in range(3))
    write_samples(
        folder / "samples.npz", ReplaySamples(inputs, tuple({"y": np.zeros((1, 4), np.float32)} for _ in inputs))
    )
    return folder


def test_without_data_a_baseline_of_real_data_gives_its_own_samples_and_says_so(
    facts: ModelFacts, tmp_path: Path
) -> None:
    calibration = Calibration(facts, config(generated=False), with_samples(tmp_path), None)
    for _ in range(2):  # some calibrate in several passes
        assert [one["x"].min() for one in calibration.inputs()] == [FAR] * 3
    assert calibration.notes == ("calibrated on the baseline's own 3 samples: --data gives more",)


def test_without_data_and_samples_nothing_is_made_up(facts: ModelFacts, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no samples") as raised:
        Calibration(facts, config(generated=False), tmp_path, None).inputs()
    assert raised.value.remedy == "give --data"


def test_data_come_first_and_a_baseline_of_generated_inputs_is_met_with_such(facts: ModelFacts, tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", x=np.full((40, 16), -FAR, np.float32))
    given = Calibration(facts, config(generated=False), with_samples(tmp_path), str(tmp_path / "data.npz"))
    made_up = Calibration(facts, config(generated=True), with_samples(tmp_path), None)
    assert {one["x"].max() for one in given.inputs()} == {-FAR}
    assert max(one["x"].max() for one in made_up.inputs()) < FAR
    assert given.notes == made_up.notes == ()
