"""How many CPUs may really be used: the smallest of affinity, cpuset and control-group quota."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from autotune.host.cgroups import Level, levels

__all__ = ["CpuCount", "count_cpus", "counted_cpus"]


@dataclass(frozen=True)
class CpuCount:
    """CPUs by each bound. ``cpuset`` and ``quota`` (a number of CPUs, maybe fractional) None: no such bound."""

    affinity: int
    cpuset: int | None = None
    quota: float | None = None

    @property
    def counted(self) -> int:
        """Whole CPUs that can be busy at once; at least 1, also under a quota below one CPU."""
        bounds = [self.affinity, self.cpuset, self.quota]
        return max(1, int(min(bound for bound in bounds if bound is not None)))


def counted_cpus() -> int:
    """CPUs that this process may keep busy."""
    return count_cpus().counted


def count_cpus(root: Path = Path("/"), affinity: int | None = None) -> CpuCount:
    """Read each bound. ``root`` is the top of the file tree; ``affinity`` None: this process's own."""
    return CpuCount(affinity=affinity or _affinity(), cpuset=_cpuset(root), quota=_quota(root))


def _affinity() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpuset(root: Path) -> int | None:
    counts = [_count_list(_cpuset_text(level)) for level in levels("cpuset", root)]
    known = [count for count in counts if count]
    return min(known) if known else None


def _cpuset_text(level: Level) -> str | None:
    if level.version == 2:
        return level.read("cpuset.cpus.effective")
    return level.read("cpuset.effective_cpus") or level.read("cpuset.cpus")


def _count_list(text: str | None) -> int:
    """Count the CPUs of a list such as ``0-3,8``."""
    count = 0
    for part in (text or "").split(","):
        first, dash, last = part.strip().partition("-")
        if first.isdigit():
            count += int(last) - int(first) + 1 if dash else 1
    return count


def _quota(root: Path) -> float | None:
    shares = [share for level in levels("cpu", root) if (share := _share(level)) is not None]
    return min(shares) if shares else None


def _share(level: Level) -> float | None:
    """CPUs that one level allows: quota over period, both in µs. None: no limit there."""
    if level.version == 2:
        quota, _, period = (level.read("cpu.max") or "max").partition(" ")
    else:
        quota, period = level.read("cpu.cfs_quota_us") or "-1", level.read("cpu.cfs_period_us") or ""
    if not quota.isdigit():
        return None
    return int(quota) / int(period or 100_000)
