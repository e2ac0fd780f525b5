"""What a device costs that is bought, not rented."""

from __future__ import annotations

from pydantic import Field

from autotune.core.fleet import HOURS_PER_MONTH
from autotune.core.frozen import Record

__all__ = ["Ownership"]


class Ownership(Record):
    """``years`` over which a price is written off, ``electricity_usd_per_kwh``, and ``pue``: power usage effectiveness, the
    energy of the whole building over that of its computers (1 is the least).

    The device alone: its host, network, space, staff, interest and what it sells for at the end are not in it.
    """

    years: float = Field(default=3.0, gt=0, le=20)
    electricity_usd_per_kwh: float = Field(default=0.12, ge=0, le=10)
    pue: float = Field(default=1.3, ge=1, le=5)

    def usd_per_h(self, purchase_usd: float, watts: float) -> float:
        """US dollars an hour of devices that were bought for ``purchase_usd`` together and draw ``watts`` together on average.

        Written off in equal parts, and the energy times the PUE: Barroso, Hölzle and Ranganathan, "The Datacenter as a
        Computer", 3rd ed. 2018, chapter 6.
        """
        depreciation = purchase_usd / (self.years * 12 * HOURS_PER_MONTH)
        return depreciation + watts / 1000 * self.pue * self.electricity_usd_per_kwh

    def __str__(self) -> str:
        """As people read it."""
        return f"over {self.years:g} years, {self.electricity_usd_per_kwh:g} USD/kWh at PUE {self.pue:g}"
