"""What backends share whose runtime refuses a model only when it opens it: each model is tried, once."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from autotune.core.device import DeviceSpec
from autotune.core.model import ModelFacts
from autotune.core.space import Offer
from autotune_backends.cpu import CpuBackend
from autotune_backends.remembered import Remembered

if TYPE_CHECKING:
    from autotune_backends.probing import Probe

__all__ = ["ProbedBackend"]


class ProbedBackend(CpuBackend):
    """Refuses what can be told ahead, then what the runtime refuses; offers the rest."""

    def __init__(self) -> None:
        self._probed = Remembered(self.probe)

    def offers(self, model: ModelFacts, device: DeviceSpec) -> Offer:
        """Try the model (once), then offer what is legal."""
        why = self.refusal(model, device)
        if why is None:
            found = self._probed(model, device)
            if found.refusal is None:
                return self.offer(model, device, found)
            why = found.refusal
        return Offer(backend=self.name, device=device.name, refusal=why)

    @abstractmethod
    def refusal(self, model: ModelFacts, device: DeviceSpec) -> str | None:
        """Why it does not run there; None: only a try can tell."""

    @abstractmethod
    def probe(self, model: ModelFacts, device: DeviceSpec) -> Probe:
        """Try it."""

    @abstractmethod
    def offer(self, model: ModelFacts, device: DeviceSpec, found: Probe) -> Offer:
        """What is legal for a model that runs; ``found`` is what trying it told."""
