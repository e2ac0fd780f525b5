from __future__ import annotations

from pathlib import Path

import pytest

from autotune.api.diagnosis import diagnose
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
