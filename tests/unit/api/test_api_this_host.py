from __future__ import annotations

from pathlib import Path

import pytest

import autotune.api.this_host as subject
from autotune.api.prepare import prepare
from autotune.api.settings import SearchSettings
from autotune.measure.host_speed import HostSpeed
from autotune.testing import onnx_models

SPEED = HostSpeed(150e9, 400e9, 0.9, 0.8, 0.3, 2e-6, 3e-6, {768 * 1024: 60e9, 96 * 2**20: 12e9})


@pytest.fixture
def calibrations(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[HostSpeed]:
    """Each calibration that was made, without measuring."""
    made: list[HostSpeed] = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(subject, "_calibrated", lambda: made.append(SPEED) or SPEED)
    return made


def test_this_host_is_calibrated_once_and_says_so(calibrations: list[HostSpeed]) -> None:
    said: list[str] = []
    files = {subject.this_host_file(said.append) for _ in range(2)}
    assert len(files) == len(calibrations) == len(said) == 1
    assert "calibrating this-host" in said[0]


def test_a_search_on_this_host_is_simulated_and_shows_the_calibration(
    calibrations: list[HostSpeed], tmp_path: Path
) -> None:
    model = onnx_models.mlp(tmp_path / "m.onnx")
    search = prepare(SearchSettings(model=model, devices=("this-host", "l4"), tracking=False)).search
    assert search.kind == "simulated"
    assert {device.name for device in search.devices} == {"this-host", "l4"}
    assert search.asked["devices"] == ["this-host", "l4"]
    assert any("fp32 150 and int8 400 billion operations a second" in remark for remark in search.remarks)


def test_its_graphs_are_priced_as_fitted(calibrations: list[HostSpeed], tmp_path: Path) -> None:
    from autotune.api.simulating import simulate
    from autotune.searching.scenario_file import parse_scenario

    model = onnx_models.conv_net(tmp_path / "m.onnx")
    found = simulate(parse_scenario(f"{{model: {model}, device: this-host}}", "text"))
    assert found.device == "this-host"
    assert found.calibration is not None
    assert found.metrics["latency_p50"].provenance == "simulated"
    assert "fitted on this-host" in (found.metrics["latency_p50"].basis or "")
