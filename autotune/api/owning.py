"""``--own``: what is bought instead of rented, and what a person should know of prices."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from autotune.api.settings import SearchSettings
from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError
from autotune.core.ownership import Ownership

__all__ = ["price_remarks", "read_ownership"]

_OPTIONS = {"years": "--years", "electricity_usd_per_kwh": "--electricity", "pue": "--pue"}


def read_ownership(settings: SearchSettings) -> Ownership | None:
    """How bought devices are paid for; None: they are rented. Raises ``UserError``."""
    given = {"years": settings.years, "electricity_usd_per_kwh": settings.electricity, "pue": settings.pue}
    said = {name: value for name, value in given.items() if value is not None}
    if not settings.own:
        for name in said:
            raise UserError(f"{_OPTIONS[name]} is for devices that are bought", "give --own with it")
        return None
    try:
        return Ownership(**said)
    except ValidationError as error:
        first = error.errors()[0]
        option = _OPTIONS[str(first["loc"][0])]
        raise UserError(f"{option} {first['input']:g}: {first['msg'].lower()}", "see autotune search --help") from error


def price_remarks(devices: Sequence[DeviceSpec], own: Ownership | None) -> list[str]:
    """Of devices that are bought: their prices and who says so, and what is not counted. Nothing where they are rented."""
    if own is None:
        return []
    known = [f"prices: {device.prices}" for device in devices if device.prices is not None]
    return [*known, f"cost of owning {own}: devices alone, without host, network, space, staff or interest"]
