"""The environment that numbers are taken in."""

from __future__ import annotations

import platform
from collections.abc import Mapping

from autotune.core.environment import Environment
from autotune.core.version import __version__
from autotune.host.cpus import counted_cpus
from autotune.host.isa import read_cpu
from autotune.host.memory import memory_limit

__all__ = ["environment"]


def environment(versions: Mapping[str, str]) -> Environment:
    """Describe this host and its software. ``versions`` are the runtimes'; autotune's own is added."""
    cpu = read_cpu()
    return Environment(
        cpu_model=cpu.model,
        isa=cpu.flags,
        cpus=counted_cpus(),
        memory_bytes=memory_limit().bytes,
        os=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
        virtual=cpu.virtual,
        versions={"autotune": __version__, **versions},
    )
