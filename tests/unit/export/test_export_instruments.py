"""What verify measures energy with: whatever the promise was measured with."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotune.core.clock import SystemClock
from autotune.core.deployment import Deployment, ExportedConfig, SessionSettings
from autotune.core.environment import Environment
from autotune.core.power import PowerModel, Watts
from autotune.core.values import Provenance, Value
from autotune.export import exported_config, write_export
from autotune.measure.counters import EnergyCounter
from autotune.replay.folder import read_exported
from autotune.replay.instruments import Instruments, instruments_for
from autotune.testing.sample_search import sample_front, sample_search

COUNTER = EnergyCounter("fake", (), 0.001)
DECLARED = PowerModel(
    name="mine", idle_w=Watts(typical=1, low=1, high=1), busy_w=Watts(typical=5, low=5, high=5), source="a meter"
)
KNOWN_CPU = Environment(cpu_model="AMD EPYC 7763", isa=(), cpus=2, memory_bytes=None, os="", python="")


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune.measure.counters.find_counter", lambda: COUNTER)


def tools(config: ExportedConfig, provenance: Provenance | None, power: PowerModel | None = None) -> Instruments:
    energy = {} if provenance is None else {"energy": Value(value=1e-3, unit="J", provenance=provenance)}
    promise = config.promise.model_copy(update={"metrics": energy})
    changed = config.model_copy(update={"promise": promise, "power": power})
    return instruments_for(changed, KNOWN_CPU, SystemClock())


def test_a_counted_energy_is_counted_again(config: ExportedConfig) -> None:
    found = tools(config, "measured")
    assert (found.counter, found.power) == (COUNTER, None)


def test_an_estimate_is_made_again_with_the_model_it_was_made_with(config: ExportedConfig) -> None:
    found = tools(config, "estimated", DECLARED)
    assert (found.counter, found.power) == (None, DECLARED)


def test_an_older_export_without_its_power_model_gets_the_catalogues(config: ExportedConfig) -> None:
    found = tools(config, "estimated")
    assert found.counter is None
    assert found.power is not None


def test_without_an_energy_nothing_is_looked_for(config: ExportedConfig) -> None:
    found = tools(config, None)
    assert (found.counter, found.power) == (None, None)


def test_a_declared_power_model_goes_with_the_export(tmp_path: Path, artifact: Path) -> None:
    search = sample_search(tmp_path / "run")
    search = search.model_copy(update={"context": search.context.model_copy(update={"power": DECLARED})})
    front = sample_front(search)
    plain = Deployment(runtime="onnxruntime", model="model.onnx", files=("model.onnx",), session=SessionSettings())
    ours = exported_config(front, front.points[0], plain, search)
    write_export(tmp_path / "out", ours, artifact, ["model.onnx"])
    assert read_exported(tmp_path / "out").power == DECLARED
