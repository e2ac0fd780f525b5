from __future__ import annotations

import pytest

from autotune.core.ownership import Ownership


def test_a_price_is_written_off_in_equal_parts_and_electricity_is_paid_for_the_building() -> None:
    own = Ownership(years=3, electricity_usd_per_kwh=0.12, pue=1.3)
    depreciation = 30_000 / (3 * 8766)
    assert own.usd_per_h(30_000, 700) == pytest.approx(depreciation + 0.7 * 1.3 * 0.12)


@pytest.mark.parametrize("change", [{"years": 6.0}, {"electricity_usd_per_kwh": 0.06}, {"pue": 1.0}])
def test_it_is_cheaper_when_it_lasts_longer_or_electricity_costs_less(change: dict[str, float]) -> None:
    assert Ownership(**change).usd_per_h(30_000, 700) < Ownership().usd_per_h(30_000, 700)
