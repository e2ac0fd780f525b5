"""Real energy counters, read through Zeus where it is installed (the extra ``energy``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autotune.core.clock import Clock
from autotune.core.samples import Samples

__all__ = ["EnergyCounter", "Zone", "counter_for", "find_counter", "idle_power_w"]

_RAPL_PERIOD_S = 0.001  # Intel SDM volume 3B, section 16.10: energy status is updated about every millisecond
_LEAST_PERIODS = 10


@dataclass(frozen=True)
class Zone:
    """One counter: ``read_j`` gives joules since some moment; it starts again from 0 after ``range_j``."""

    name: str
    read_j: Callable[[], float]
    range_j: float


@dataclass(frozen=True)
class EnergyCounter:
    """Counters that together measure a device, whatever runs on it. Each is updated every ``period_s``."""

    name: str
    zones: tuple[Zone, ...]
    period_s: float

    @property
    def shortest_window_s(self) -> float:
        """Ten periods: what a window must last, so that its ends are known to a tenth of it."""
        return _LEAST_PERIODS * self.period_s

    def window(self, run: Callable[[], Samples], clock: Clock) -> Samples:
        """Return what ``run`` returns, with the energy used meanwhile: the round's share, by time, of the window around it.

        (The window holds the messages between two processes as well; on a busy machine they may take as long as the round.)
        It stays unknown when the window was shorter than ``shortest_window_s``, or a counter could not be read.
        """
        before, started = self.read(), clock.now_s()
        samples = run()
        lasted, after = clock.now_s() - started, self.read()
        if before is None or after is None or lasted < self.shortest_window_s:
            return samples
        return replace(samples, energy_j=self.used_j(before, after) * min(1.0, samples.wall_s / lasted))

    def read(self) -> tuple[float, ...] | None:
        """Read every zone, in joules; None when one cannot be read now."""
        try:
            return tuple(zone.read_j() for zone in self.zones)
        except (OSError, ValueError):
            return None

    def used_j(self, before: Sequence[float], after: Sequence[float]) -> float:
        """Energy between two readings. Windows are far shorter than a counter's range, so it wrapped once at most."""
        zones = zip(self.zones, before, after, strict=True)
        return sum((end - start) % zone.range_j for zone, start, end in zones)


def find_counter() -> EnergyCounter | str:
    """Return the counter of this machine's CPU packages (and their DRAM, where it is counted apart), or why there is none."""
    try:
        from zeus.device.cpu.rapl import RAPLCPUs
        from zeus.exception import ZeusBaseError
    except ImportError:
        return "Zeus is not installed: pip install 'autotune-inference[energy]'"
    try:
        packages = RAPLCPUs().cpus
    except ZeusBaseError as error:
        return f"no RAPL counter: {_first_line(error)}"
    except (OSError, ValueError) as error:
        return f"the RAPL counter cannot be read: {_first_line(error)}"
    zones = tuple(zone for package in packages for zone in _zones(package))
    return EnergyCounter("RAPL", zones, _RAPL_PERIOD_S) if zones else "no RAPL counter: powercap lists no package"


def counter_for(energy: str) -> EnergyCounter | None:
    """Return the counter to measure with under ``--energy`` (``auto``, ``counter``, ``off``); None: there is none, or off."""
    found = "off" if energy == "off" else find_counter()
    return None if isinstance(found, str) else found


def idle_power_w(counter: EnergyCounter, clock: Clock, seconds: float = 1.0) -> float | None:
    """Return the watts that the counter shows while this process sleeps; None when it could not be read."""
    before, started = counter.read(), clock.now_s()
    clock.sleep(seconds)
    after, ended = counter.read(), clock.now_s()
    return None if before is None or after is None else counter.used_j(before, after) / (ended - started)


def _zones(package: Any) -> list[Zone]:
    """The zones of one of Zeus's packages.

    Zeus knows where they are; its own ``read`` would start a process that polls for wrap-around beside every measurement.
    """
    files = [file for file in (package.rapl_file, package.dram) if file is not None]
    return [
        Zone(f"{package.cpu_index}/{file.name}", _reader(Path(file.energy_uj_path)), file.max_energy_range_uj * 1e-6)
        for file in files
    ]


def _reader(file: Path) -> Callable[[], float]:
    return lambda: int(file.read_text()) * 1e-6


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
