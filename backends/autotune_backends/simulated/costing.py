"""What devices cost an hour: their rent, or the price they were bought for and the electricity."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.core.ownership import Ownership
from autotune_backends.simulated.devices import SimulatedDevice

__all__ = ["HourlyCost", "hourly_cost", "said_of_prices"]

_NO_SOURCE = "no source"


@dataclass(frozen=True, slots=True)
class HourlyCost:
    """US dollars an hour of all devices together, and what that rests on."""

    usd: float
    basis: str


def hourly_cost(device: SimulatedDevice, devices: int, watts: float | None, own: Ownership | None) -> HourlyCost | None:
    """Of ``devices`` that draw ``watts`` together on average (None: unknown). ``own`` None: they are rented.

    The middle of a range of prices counts. None: a price, or what electricity costs, is not known.
    """
    if own is None:
        if device.price_usd_per_h is None:
            return None
        return HourlyCost(devices * _middle(device.price_usd_per_h), f"rent: {_rent(device)}")
    if device.purchase_usd is None or watts is None:
        return None
    usd = own.usd_per_h(devices * _middle(device.purchase_usd), watts)
    beside = f"; rent would be {_rent(device)}" if device.price_usd_per_h is not None else ""
    return HourlyCost(usd, f"owned {own}: {_purchase(device)}{beside}")


def said_of_prices(device: SimulatedDevice) -> str:
    """Both prices with their sources, for a person; what is unknown says so."""
    rent = _rent(device) if device.price_usd_per_h is not None else "unknown"
    purchase = _purchase(device) if device.purchase_usd is not None else "unknown"
    return f"{device.name}: rent {rent}; purchase {purchase}"


def _rent(device: SimulatedDevice) -> str:
    return f"{_ends(device.price_usd_per_h)} USD a device-hour ({device.sources.get('price_usd_per_h', _NO_SOURCE)})"


def _purchase(device: SimulatedDevice) -> str:
    return f"{_ends(device.purchase_usd)} USD a device ({device.sources.get('purchase_usd', _NO_SOURCE)})"


def _middle(ends: tuple[float, float]) -> float:
    return sum(ends) / 2


def _ends(ends: tuple[float, float] | None) -> str:
    low, high = ends or (0.0, 0.0)
    return f"{low:,g}" if low == high else f"{low:,g} to {high:,g}"
