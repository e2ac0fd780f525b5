"""Whether another session has room beside the one that is open."""

from __future__ import annotations

import os

import psutil

from autotune.host.memory import memory_limit
from autotune_trials.tree import ProcessTree

__all__ = ["has_room"]

_OF_ITS_FILES = 3.0  # while a runtime opens them: the file, the weights read from it, and laid out anew for its kernels
_PROCESS_BYTES = 200 * 2**20  # interpreter and runtime


def has_room(size_bytes: int, limit_bytes: int | None) -> bool:
    """Whether a session of an artifact of that size fits into what is free now, and into the trial's own limit (None: no limit).

    This process and what it started count against the trial's limit, and against the control group's.
    """
    used = ProcessTree(os.getpid()).memory_bytes()
    limits = [limit for limit in (limit_bytes, memory_limit().cgroup) if limit is not None]
    free = min([psutil.virtual_memory().available, *(limit - used for limit in limits)])
    return _OF_ITS_FILES * size_bytes + _PROCESS_BYTES <= free
