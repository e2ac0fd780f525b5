"""The least that must change in a candidate for its model to fit: more devices, a narrower format, or both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from autotune.core.candidate import Scalar
from autotune_backends.simulated.devices import SimulatedDevice
from autotune_backends.simulated.precision import PRECISIONS, precision_named
from autotune_backends.simulated.refusals import Infeasible
from autotune_backends.simulated.step_costs import step_costs
from autotune_backends.simulated.transformers import TransformerModel

__all__ = ["nearest_fit"]

_FORMATS = ("fp8", "int8", "int8_weights", "fp4", "int4")  # those that are offered
_MOST_DEVICES = 64

Change = dict[str, Scalar]


def nearest_fit(model: TransformerModel, device: SimulatedDevice, candidate: Mapping[str, Scalar]) -> str:
    """``"it fits with tp=4, or with precision=int4"``; empty when nothing of the kind does."""
    wider, narrower = list(_wider(device, candidate)), list(_narrower(candidate))
    both = [{**more, **less} for more in wider for less in narrower]
    alone = [found for kind in (wider, narrower) if (found := _first(model, device, candidate, kind)) is not None]
    last = _first(model, device, candidate, both) if not alone else None
    ways = alone or ([last] if last is not None else [])
    return f"it fits with {', or with '.join(map(_said, ways))}" if ways else ""


def _wider(device: SimulatedDevice, candidate: Mapping[str, Scalar]) -> Iterator[Change]:
    size = 2 * int(candidate.get("tp", 1))
    while size <= min(device.max_devices, _MOST_DEVICES):
        yield {"tp": size}
        size *= 2


def _narrower(candidate: Mapping[str, Scalar]) -> Iterator[Change]:
    now = precision_named(str(candidate.get("precision", "bf16"))).weight_bits
    return ({"precision": name} for name in _FORMATS if PRECISIONS[name].weight_bits < now)


def _first(
    model: TransformerModel, device: SimulatedDevice, candidate: Mapping[str, Scalar], changes: Sequence[Change]
) -> Change | None:
    return next((change for change in changes if _fits(model, device, {**candidate, **change})), None)


def _fits(model: TransformerModel, device: SimulatedDevice, candidate: Mapping[str, Scalar]) -> bool:
    try:
        step_costs(model, device, candidate)
    except Infeasible:
        return False
    return True


def _said(change: Change) -> str:
    return " ".join(f"{name}={value}" for name, value in change.items())
