"""Points that a person measured narrow what is predicted for their device and model."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from autotune.core.candidate import Candidate
from autotune.core.errors import UserError
from autotune.core.workload import BUILT_IN
from autotune_backends.simulated.backend import SimulatedBackend
from autotune_backends.simulated.calibration import calibrated, correction_of
from autotune_backends.simulated.devices import Residual, device_named
from autotune_backends.simulated.fitted import fitted
from autotune_backends.simulated.points import predict_points

ROW = {
    "system": "h100_sxm",
    "backend": "vllm",
    "model": "llama-3.1-8b",
    "precision": "bf16",
    "tp": "1",
    "concurrency": "8",
    "isl": "1024",
    "osl": "128",
}
SERVED = ("llama-3.1-8b", "vllm")
SIGMA = fitted().errors.fitted


def residual(step: float, served: tuple[str, str] = SERVED) -> Residual:
    return Residual(served, SIGMA, step, None, None)


def table(folder: Path, *changes: Mapping[str, str]) -> Path:
    path = folder / "points.csv"
    rows = [
        ROW | {"tpot_ms_measured": "", "ttft_ms_measured": "", "power_w_measured": ""} | change for change in changes
    ]
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def slow_by(factor: float) -> dict[str, str]:
    """The row with what is predicted, times that."""
    (row,) = predict_points([ROW])
    return {"tpot_ms_measured": f"{factor * float(row['tpot_s']) * 1e3:.6g}"}


def test_without_points_nothing_is_corrected_and_the_doubt_is_the_devices() -> None:
    known = correction_of((), SERVED, SIGMA)
    assert known.step.factor == 1.0
    assert known.step.sigma == pytest.approx(SIGMA)


def test_one_point_is_believed_in_part_and_many_points_are_believed() -> None:
    means = [correction_of([residual(0.2)] * count, SERVED, SIGMA).step.mean for count in (1, 4, 400)]
    assert 0 < means[0] < means[1] < means[2] < 0.2
    assert means[2] == pytest.approx(0.2, rel=0.05)


def test_points_narrow_the_interval_but_never_below_a_settings_own_error() -> None:
    sigmas = [correction_of([residual(0.0)] * count, SERVED, SIGMA).step.sigma for count in (0, 1, 4, 400)]
    assert sigmas == sorted(sigmas, reverse=True)
    assert sigmas[-1] >= fitted().errors.own


def test_another_model_learns_of_the_device_only_where_the_device_is_in_doubt() -> None:
    other = ("qwen3-32b", "vllm")
    assert correction_of([residual(0.2, other)] * 4, SERVED, SIGMA).step.mean == 0.0
    doubted = replace(residual(0.2, other), sigma=0.4)
    assert correction_of([doubted] * 4, SERVED, 0.4).step.mean > 0.1


def test_a_table_corrects_its_own_device_and_leaves_others_alone(tmp_path: Path) -> None:
    path = table(tmp_path, slow_by(1.2), {"system": "a100", "tpot_ms_measured": "12"})
    h100 = calibrated(device_named("h100-sxm"), path)
    assert [round(math.exp(one.step or 0), 2) for one in h100.residuals] == [1.2]
    assert calibrated(device_named("l40s"), path).residuals == ()


def test_predicted_points_move_towards_the_measured_ones_and_say_so(tmp_path: Path) -> None:
    path = table(tmp_path, *[slow_by(1.2)] * 5)
    (plain,), (better,) = predict_points([ROW]), predict_points([ROW], path)
    assert float(plain["tpot_s"]) < float(better["tpot_s"]) < 1.2 * float(plain["tpot_s"])
    assert better["basis"].endswith("calibrated on 5 points")
    assert "calibrated" not in plain["basis"]


def test_a_simulation_follows_and_its_values_say_what_they_have_in_common(tmp_path: Path) -> None:
    backend = SimulatedBackend()
    model, load = backend.language_model("llama-3.1-8b"), BUILT_IN["chat"].for_users(4)
    found = []
    for calibration in (None, table(tmp_path, *[slow_by(1.3)] * 8)):
        device = backend.simulated_device("h100-sxm", calibration)
        found.append(backend.simulate(model, Candidate({"runtime": "simulated"}), device, load))
    plain, better = (values["tpot_p50"] for values in found)
    assert plain.value is not None
    assert better.value is not None
    assert better.value > plain.value
    assert "calibrated on 8 points" in (better.basis or "")
    assert 0 < (plain.common or 0) < 1


def test_a_calibrated_device_is_another_device_to_a_trials_key(tmp_path: Path) -> None:
    backend = SimulatedBackend()
    plain, better = backend.simulated_device("h100"), backend.simulated_device("h100", table(tmp_path, slow_by(1.1)))
    assert plain.figures != better.figures
    assert (plain.calibrated_on, better.calibrated_on) == (None, 1)


def test_a_devices_own_file_may_name_its_table(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "name: mine\nclass: gpu\npeak: {bf16: 900e12}\nmemory_bytes: 80e9\nbandwidth: 3e12\ncalibration: points.csv\n"
    )
    table(tmp_path, {"system": "mine", "tpot_ms_measured": "9"})
    assert SimulatedBackend().simulated_device(str(tmp_path / "mine.yaml")).calibrated_on == 1


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, "points.csv: row 2 measures nothing"),
        ({"tpot_ms_measured": "0.008"}, "points.csv: row 2: tpot 0.008 is .* times less than predicted"),
        ({"tpot_ms_measured": "-1"}, "points.csv: row 2: tpot_ms_measured is '-1'"),
        ({"model": "llama-3.1-405b", "tpot_ms_measured": "9"}, "row 2 was measured, but cannot run"),
    ],
)
def test_a_row_that_says_nothing_true_is_refused_by_its_number(
    tmp_path: Path, change: dict[str, str], problem: str
) -> None:
    with pytest.raises(UserError, match=problem):
        calibrated(device_named("h100-sxm"), table(tmp_path, change))
