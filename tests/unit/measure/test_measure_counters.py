from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from autotune.core.plan import Plan
from autotune.core.samples import Samples
from autotune.measure import measure
from autotune.measure.counters import EnergyCounter, Zone, counter_for, find_counter, idle_power_w

RANGE_UJ = 262143328850


def zone(folder: Path, name: str, energy_uj: int) -> None:
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{name}\n")
    (folder / "energy_uj").write_text(f"{energy_uj}\n")
    (folder / "max_energy_range_uj").write_text(f"{RANGE_UJ}\n")


@pytest.fixture
def powercap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with one package whose DRAM is counted apart, as the kernel's powercap tree shows it."""
    rapl = pytest.importorskip("zeus.device.cpu.rapl")
    root = tmp_path / "intel-rapl"
    zone(root / "intel-rapl:0", "package-0", 5_000_000)
    zone(root / "intel-rapl:0/intel-rapl:0:0", "dram", 1_000_000)
    monkeypatch.setattr(rapl, "RAPL_DIR", str(root))
    monkeypatch.delenv("ZEUSD_SOCK_PATH", raising=False)
    rapl.rapl_is_available.cache_clear()
    yield root
    rapl.rapl_is_available.cache_clear()


def counter_of(found: EnergyCounter | str) -> EnergyCounter:
    assert isinstance(found, EnergyCounter), found
    return found


def spend(file: Path, microjoules: int) -> None:
    (file / "energy_uj").write_text(str((int((file / "energy_uj").read_text()) + microjoules) % RANGE_UJ))


def window(counter: EnergyCounter, clock, seconds: float, use=lambda: None) -> float | None:
    def run() -> Samples:
        clock.sleep(seconds)
        use()
        return Samples(np.full(1, seconds), 1, seconds)

    return counter.window(run, clock).energy_j


def test_energy_sums_package_and_memory(powercap: Path, clock) -> None:
    counter = counter_of(find_counter())

    def use() -> None:
        spend(powercap / "intel-rapl:0", 2_000_000)
        spend(powercap / "intel-rapl:0/intel-rapl:0:0", 500_000)

    assert [zone.name for zone in counter.zones] == ["0/package-0", "0/dram"]
    assert window(counter, clock, 0.05, use) == pytest.approx(2.5)


def test_a_counter_that_wraps_is_read_right(powercap: Path, clock) -> None:
    (powercap / "intel-rapl:0/energy_uj").write_text(str(RANGE_UJ - 500_000))
    counter = counter_of(find_counter())
    assert window(counter, clock, 0.05, lambda: spend(powercap / "intel-rapl:0", 2_000_000)) == pytest.approx(2.0)


def test_a_window_shorter_than_ten_periods_is_unknown(powercap: Path, clock) -> None:
    counter = counter_of(find_counter())
    assert window(counter, clock, 0.005) is None
    assert window(counter, clock, 0.02) == 0


def test_a_missing_domain_is_left_out(powercap: Path) -> None:
    memory = powercap / "intel-rapl:0/intel-rapl:0:0"
    for file in memory.iterdir():
        file.unlink()
    memory.rmdir()
    assert [zone.name for zone in counter_of(find_counter()).zones] == ["0/package-0"]


def test_a_counter_that_vanishes_makes_the_window_unknown(powercap: Path, clock) -> None:
    counter = counter_of(find_counter())
    assert window(counter, clock, 0.05, (powercap / "intel-rapl:0/energy_uj").unlink) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_counter_is_said(powercap: Path) -> None:
    (powercap / "intel-rapl:0/energy_uj").chmod(0)
    assert "permission" in str(find_counter()).lower()


def test_an_unreadable_counter_gives_zeuss_reason(powercap: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from zeus.device.cpu import rapl
    from zeus.device.cpu.common import ZeusCPUNoPermissionError

    def refuse(self: object, path: str) -> None:
        raise ZeusCPUNoPermissionError("RAPL requires root privileges.\nSee the manual.")

    monkeypatch.setattr(rapl.RAPLFile, "__init__", refuse)
    assert find_counter() == "no RAPL counter: RAPL requires root privileges."


def test_no_powercap_at_all_is_said(powercap: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from zeus.device.cpu import rapl

    monkeypatch.setattr(rapl, "RAPL_DIR", str(tmp_path / "none"))
    assert str(find_counter()).startswith("no RAPL counter")


def test_an_empty_powercap_is_said(powercap: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from zeus.device.cpu import rapl

    (tmp_path / "empty").mkdir()
    monkeypatch.setattr(rapl, "RAPL_DIR", str(tmp_path / "empty"))
    assert find_counter() == "no RAPL counter: powercap lists no package"


def test_without_zeus_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zeus.device.cpu.rapl", None)
    assert "autotune-inference[energy]" in str(find_counter())


def watts(clock, power_w: float) -> EnergyCounter:
    return EnergyCounter("fake", (Zone("all", lambda: clock.now_s() * power_w, 1e6),), 0.001)


def test_counted_energy_is_measured_not_estimated(fake, clock) -> None:
    session = fake.session(lambda _: 0.01)
    measured = measure(
        session, [fake.load("offline", 4)], Plan(), clock=clock, watch=fake.watch, counter=watts(clock, 20)
    )
    assert measured.metrics["energy"].provenance == "measured"
    assert measured.metrics["energy"].value == pytest.approx(20 * 0.01 / 4)
    assert measured.metrics["power"].value == pytest.approx(20)


def test_a_round_lasts_long_enough_for_a_slow_counter(fake, clock) -> None:
    session, slow = fake.session(fake.noisy(0.001, 0.2)), replace(watts(clock, 20), period_s=0.01)
    measured = measure(session, [fake.load()], Plan(round_s=0.01), clock=clock, watch=fake.watch, counter=slow)
    assert measured.metrics["energy"].value == pytest.approx(20 * 0.001, rel=0.05)


def test_what_the_window_holds_beside_the_round_is_not_the_rounds(clock) -> None:
    def run() -> Samples:
        clock.sleep(0.08)
        return Samples(np.full(1, 0.02), 1, 0.02)

    assert watts(clock, 20).window(run, clock).energy_j == pytest.approx(20 * 0.02)


def test_idle_power_is_what_is_used_while_asleep(clock) -> None:
    assert idle_power_w(watts(clock, 35), clock) == pytest.approx(35)


def test_a_counter_is_used_where_there_is_one_unless_energy_is_off(
    powercap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert counter_for("auto") is not None
    assert counter_for("off") is None
    monkeypatch.setitem(sys.modules, "zeus.device.cpu.rapl", None)
    assert counter_for("auto") is None
