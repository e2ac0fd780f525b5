"""What trying a model on a device told, kept: a try starts a process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from autotune.core.device import DeviceSpec
from autotune.core.model import ModelFacts

__all__ = ["Remembered"]

T = TypeVar("T")


class Remembered(Generic[T]):
    """``attempt``, made once for each model (by the hash of its files) and device."""

    def __init__(self, attempt: Callable[[ModelFacts, DeviceSpec], T]) -> None:
        self._attempt = attempt
        self._known: dict[tuple[str, str], T] = {}

    def __call__(self, model: ModelFacts, device: DeviceSpec) -> T:
        """What the attempt gave, or gives now."""
        key = (model.sha256, device.name)
        if key not in self._known:
            self._known[key] = self._attempt(model, device)
        return self._known[key]
