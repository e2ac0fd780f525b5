"""What backends share whose sessions are processes on this machine's CPU."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.deployment import Deployment, SessionSettings
from autotune.core.device import DeviceSpec
from autotune.core.package import Package
from autotune.core.ports import Session

__all__ = ["CpuBackend", "cpu_device", "installed"]


class CpuBackend(ABC):
    """A part of ``core.ports.Backend``. Holds no session: a runtime is imported only where a session lives or a build runs.

    ``opener`` is what a session's process calls, ``"module:function"``. ``package`` is what the runtime comes with.
    """

    name: str
    opener: str
    package: Package

    def missing(self) -> Package | None:
        """The runtime's package, where it is not installed; None where it is."""
        return None if installed(self.package.name) else self.package

    @abstractmethod
    def settings(self, candidate: Candidate, cpus: int) -> SessionSettings:
        """How an artifact is opened under the candidate's parameters, with that many counted CPUs. Pure."""

    def devices(self) -> Sequence[DeviceSpec]:
        """The CPU: the very one that every backend of this kind sees."""
        return [self._cpu]

    def open(self, artifact: Artifact, device: DeviceSpec) -> Session:
        """Return the session; entering it starts its process. Raises ``OpenError`` there."""
        from autotune.measure.session_process import SessionProcess

        return SessionProcess(self.opener, artifact, device)

    def deployment(self, artifact: Artifact, candidate: Candidate) -> Deployment:
        """Describe the artifact as data, for export."""
        return Deployment(
            runtime=self.name,
            model=artifact.model,
            files=artifact.files,
            session=self.settings(candidate, self._cpu.cpus or 1),
            batch=int(candidate.get("batch_size", 1)),
        )

    @cached_property
    def _cpu(self) -> DeviceSpec:
        return cpu_device()


def cpu_device() -> DeviceSpec:
    """The CPU, as much of it as may really be used."""
    from autotune.host.cpus import counted_cpus
    from autotune.host.isa import read_cpu
    from autotune.host.memory import memory_limit

    cpu = read_cpu()
    return DeviceSpec(
        name="cpu", model=cpu.model, cpus=counted_cpus(), memory_bytes=memory_limit().bytes, isa=cpu.flags
    )


def installed(distribution: str) -> str | None:
    """The version of an installed package; None: it is not there."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
