"""The machine: counted CPUs, memory, instruction sets, and the environment's fingerprint."""

from __future__ import annotations

from autotune.host.cpus import CpuCount, count_cpus, counted_cpus
from autotune.host.environment import environment
from autotune.host.isa import isa_flags
from autotune.host.memory import MemoryLimit, memory_limit
from autotune.host.storage import disk_free_bytes, shared_memory_bytes

__all__ = [
    "CpuCount",
    "MemoryLimit",
    "count_cpus",
    "counted_cpus",
    "disk_free_bytes",
    "environment",
    "isa_flags",
    "memory_limit",
    "shared_memory_bytes",
]
