from __future__ import annotations

from pathlib import Path

import pytest

from autotune import plugins
from autotune.api.backends_here import backends_here
from autotune.api.diagnosis import diagnose
from autotune.core.errors import UserError
from autotune.core.ports import Packaged
from autotune.measure.counters import EnergyCounter


def energy_found(monkeypatch: pytest.MonkeyPatch, idle_w: float | None) -> str:
    monkeypatch.setattr("autotune.measure.counters.find_counter", lambda: EnergyCounter("RAPL", (), 0.001))
    monkeypatch.setattr("autotune.measure.counters.idle_power_w", lambda *_: idle_w)
    return next(found.text for found in diagnose(Path.cwd()) if found.about == "energy")


def test_a_counter_is_told_with_the_idle_power(monkeypatch: pytest.MonkeyPatch) -> None:
    assert energy_found(monkeypatch, 12.34) == "measured by RAPL; idle power 12.3 W"


def test_an_idle_power_that_could_not_be_read_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert energy_found(monkeypatch, None) == "measured by RAPL; idle power unknown"


def test_small_shared_memory_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune.host.storage.shared_memory_bytes", lambda: 64 * 2**20)
    (told,) = [found for found in diagnose(Path.cwd()) if "/dev/shm" in found.text]
    assert "64 MiB" in told.text
    assert "--executor process" in told.remedy


def test_a_backend_whose_package_is_missing_finds_no_device_and_names_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    packaged = {backend.name: backend.package for backend, _ in backends_here() if isinstance(backend, Packaged)}
    assert {"onnxruntime", "openvino", "torch"} <= packaged.keys()
    monkeypatch.setattr("autotune_backends.cpu.installed", lambda _: None)
    monkeypatch.setattr("autotune_backends.onnxruntime.backend.installed", lambda _: None)
    found = [one for one in diagnose(Path.cwd()) if one.about == "devices" and "through" in one.text]
    for name, package in packaged.items():
        (told,) = [one for one in found if f"through {name}" in one.text]
        assert (told.state, told.remedy) == ("note", package.install)
        assert f"{package.name} is not installed" in told.text


def test_a_backend_that_cannot_be_imported_is_told_once_and_the_rest_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = plugins.backend

    def broken(name: str) -> object:
        if name == "openvino":
            raise UserError("'openvino' of autotune.backends cannot be imported: no such thing", "install it")
        return whole(name)

    monkeypatch.setattr(plugins, "backend", broken)
    found = diagnose(Path.cwd())
    assert [one.state for one in found if "openvino" in one.text] == ["missing"]
    assert any(one.about == "disk" for one in found)
