"""Ray's daemons are paused while a trial runs: idle they use a tenth of a CPU, and no round would be undisturbed.

On two CPUs, OpenVINO beside onnxruntime with two threads each: under Ray every round was disturbed and the ratio of their
latencies read 0.37, in plain processes none was and it read 0.40, for threads that wait for each other lose more to whoever
takes one of their CPUs.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator, Sequence

import psutil

__all__ = ["daemons_of", "paused", "ray_paused", "wake"]

_PAUSE_S, _BREATH_S = 20.0, 0.3  # the shortest of their own timeouts is ten seconds, of which five must pass in a row
_PROGRAMS = ("/ray/core/", "/ray/_private/", "/ray/autoscaler/", "/ray/dashboard/")
"""Where the daemons lie in Ray's package."""


def ray_paused() -> contextlib.AbstractContextManager[None]:
    """Pause the driver's daemons. For a Ray worker on the driver's machine; if it is killed meanwhile, the driver wakes them."""
    return paused(_daemons_here())


@contextlib.contextmanager
def paused(daemons: Sequence[psutil.Process]) -> Iterator[None]:
    """Pause them, but for a breath every now and then."""
    ended = threading.Event()
    thread = threading.Thread(target=_pause, args=(daemons, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def daemons_of(driver: psutil.Process) -> list[psutil.Process]:
    """Ray's processes that the driver started. (They die with it; their own children, which do not, are none of them.)"""
    found = []
    for child in driver.children():
        with contextlib.suppress(psutil.Error):
            if any(program in argument for argument in child.cmdline() for program in _PROGRAMS):
                found.append(child)
    return found


def wake(daemons: Sequence[psutil.Process]) -> None:
    """Let them go on. Those that never paused do not notice."""
    _send(daemons, signal.SIGCONT)


def _daemons_here() -> list[psutil.Process]:
    """The driver started the raylet, which started this worker. None, if either is gone already."""
    with contextlib.suppress(psutil.Error):
        raylet = psutil.Process().parent()
        driver = raylet.parent() if raylet is not None else None
        return daemons_of(driver) if driver is not None else []
    return []


def _pause(daemons: Sequence[psutil.Process], ended: threading.Event) -> None:
    while True:
        _send(daemons, signal.SIGSTOP)
        over = ended.wait(_PAUSE_S)
        wake(daemons)
        if over or ended.wait(_BREATH_S):
            return


def _send(daemons: Sequence[psutil.Process], number: signal.Signals) -> None:
    for daemon in daemons:
        with contextlib.suppress(psutil.Error):
            daemon.send_signal(number)
