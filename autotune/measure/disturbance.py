"""Whether something else got in the way of a round, told by the kernel's own counters, never by the latencies themselves."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from autotune.core.samples import Samples
from autotune.host.cgroups import levels, read_text

__all__ = ["NoWatch", "Sighting", "SystemWatch", "Tolerance", "Watch", "judge", "sight"]


class Watch(Protocol):
    """Looks before and after a round."""

    def start(self) -> None:
        """A round begins."""
        ...

    def stop(self, samples: Samples) -> tuple[str, ...]:
        """It has ended: what disturbed it, in words; empty when nothing did."""
        ...


class NoWatch:
    """Sees nothing: for simulated devices and virtual time."""

    def start(self) -> None:
        """Do nothing."""

    def stop(self, samples: Samples) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing."""
        return ()


@dataclass(frozen=True)
class Sighting:
    """Counters at one moment, since boot. ``frequency_hz`` None: not told (most virtual machines).

    ``busy_s`` and ``steal_s`` sum over all CPUs, in steps of one clock tick; ``running`` tasks are ready to run now.
    """

    busy_s: float = 0.0
    steal_s: float = 0.0
    running: int = 0
    throttled_s: float = 0.0
    frequency_hz: float | None = None


@dataclass(frozen=True)
class Tolerance:
    """How much of a round's wall time may be lost before it counts as disturbed. ``ticks`` is the counters' own error."""

    steal: float = 0.02
    foreign: float = 0.25
    delay: float = 0.05
    slower: float = 0.9
    ticks: int = 2


@dataclass
class SystemWatch:
    """Watches this machine; ``root`` is replaced in tests. ``cpus``: how many the session may use."""

    cpus: int = 1
    root: Path = Path("/")
    tolerance: Tolerance = field(default_factory=Tolerance)
    _before: Sighting = field(default_factory=Sighting)

    def start(self) -> None:
        """A round begins."""
        self._before = sight(self.root)

    def stop(self, samples: Samples) -> tuple[str, ...]:
        """It has ended."""
        return judge(self._before, sight(self.root), samples, self.cpus, self.tolerance)


def judge(
    before: Sighting, after: Sighting, samples: Samples, cpus: int, tolerance: Tolerance | None = None
) -> tuple[str, ...]:
    """Return in words what disturbed a round between two sightings; empty: nothing did."""
    limits = tolerance or Tolerance()
    tick = limits.ticks / os.sysconf("SC_CLK_TCK")
    wall = samples.wall_s
    steal = after.steal_s - before.steal_s
    foreign = after.busy_s - before.busy_s - (samples.cpu_s or 0.0)
    delay = samples.counters.get("run_delay_s", 0.0)
    crowded = min(before.running, after.running) > cpus + 1
    slowed = _slowed(before.frequency_hz, after.frequency_hz, limits.slower)
    seen = {
        "CPU time stolen by the host": steal >= max(tick, limits.steal * wall),
        "other processes were computing": foreign >= max(tick, limits.foreign * wall),
        "threads waited for a CPU": delay > limits.delay * wall,
        "the run queue was crowded": crowded,
        "throttled by the cgroup's quota": after.throttled_s > before.throttled_s,
        "the CPU's frequency fell": slowed,
    }
    return tuple(reason for reason, happened in seen.items() if happened)


def sight(root: Path = Path("/")) -> Sighting:
    """Read the counters: proc(5) ``stat``, the cgroups' ``cpu.stat``, cpufreq's ``scaling_cur_freq``.

    A counter that cannot be read stays at its default, and so disturbs nothing.
    """
    lines = (read_text(root / "proc/stat") or "").splitlines()
    busy, steal = _cpu_line(next((line for line in lines if line.startswith("cpu ")), ""))
    running = next((int(line.split()[1]) for line in lines if line.startswith("procs_running")), 0)
    return Sighting(busy, steal, running, _throttled_s(root), _frequency_hz(root))


def _cpu_line(line: str) -> tuple[float, float]:
    """Busy and stolen seconds of ``cpu user nice system idle iowait irq softirq steal guest guest_nice``.

    Guest time is within user time already.
    """
    ticks = [int(field) for field in line.split()[1:9]]
    if len(ticks) < 8:
        return 0.0, 0.0
    rate = os.sysconf("SC_CLK_TCK")
    user, nice, system, _, _, irq, softirq, steal = ticks
    return (user + nice + system + irq + softirq) / rate, steal / rate


def _throttled_s(root: Path) -> float:
    """The innermost cgroup's throttled time: ``throttled_usec`` (version 2) or ``throttled_time`` in ns (version 1)."""
    for level in levels("cpu", root):
        for line in (level.read("cpu.stat") or "").splitlines():
            name, _, number = line.partition(" ")
            if name in ("throttled_usec", "throttled_time"):
                return int(number) * (1e-6 if name == "throttled_usec" else 1e-9)
    return 0.0


def _frequency_hz(root: Path) -> float | None:
    text = read_text(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq")
    return float(text) * 1e3 if text and text.isdigit() else None


def _slowed(before: float | None, after: float | None, share: float) -> bool:
    return before is not None and after is not None and after < share * before
