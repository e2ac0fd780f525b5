"""A process that dies with its parent, and reads what it has used so far. Linux only: elsewhere these do what they can."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from pathlib import Path

__all__ = ["die_with_parent", "involuntary_switches", "oom_kills", "peak_memory_bytes", "run_delay_s", "sleep_exactly"]

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_PR_SET_TIMERSLACK = 29


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when the thread that started it ends (prctl(2), PR_SET_PDEATHSIG).

    Exits at once when ``parent`` was gone before that could be asked for.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def sleep_exactly() -> None:
    """Have the kernel end this thread's sleeps when they are due, not up to 50 µs later (prctl(2), PR_SET_TIMERSLACK)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)


def peak_memory_bytes(status: Path = Path("/proc/self/status")) -> int | None:
    """Return this process's peak resident memory (``VmHWM``, proc(5)) in bytes; None where it cannot be read."""
    try:
        lines = status.read_text().splitlines()
    except OSError:
        return None
    kilobytes = next((line.split()[1] for line in lines if line.startswith("VmHWM:")), None)
    return None if kilobytes is None else int(kilobytes) * 1024


def involuntary_switches() -> int:
    """Return how often this process was put off a CPU against its will (getrusage(2), ``ru_nivcsw``)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def oom_kills(proc: Path = Path("/proc"), cgroups: Path = Path("/sys/fs/cgroup")) -> int:
    """Return how many processes the kernel has killed for memory: system-wide and in the cgroup, whichever is more.

    Only differences mean anything. 0 where it cannot be read.
    """
    files = (proc / "vmstat", cgroups / "memory.events", cgroups / "memory/memory.oom_control")
    return max(_oom_kill_line(file) for file in files)


def _oom_kill_line(file: Path) -> int:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def run_delay_s(tasks: Path = Path("/proc/self/task")) -> float | None:
    """Return for how long this process's threads were ready to run but waited for a CPU, in seconds (schedstat, field 2).

    Only differences mean anything, and only while no thread ends. None where the kernel does not tell.
    """
    try:
        return sum(int((task / "schedstat").read_text().split()[1]) for task in tasks.iterdir()) * 1e-9
    except (OSError, IndexError):
        return None
