"""One measured point, as what it says of the simulator's error."""

from __future__ import annotations

import math
from collections.abc import Mapping

from autotune.core.errors import UserError
from autotune_backends.simulated.devices import Residual
from autotune_backends.simulated.fitted import sigma_of
from autotune_backends.simulated.refusals import Infeasible
from autotune_backends.simulated.served_point import ServedPoint, measured

__all__ = ["residual_of"]

_FEW_USERS = 8  # with more, the first token depends on how the client starts
_FARTHEST = math.log(20)  # a unit is wrong, rather than the simulator


def residual_of(number: int, row: Mapping[str, str], point: ServedPoint) -> Residual:
    """Of row ``number``, read as ``point``. Raises ``UserError`` when it cannot run there, or measures nothing."""
    told = {name: measured(number, row, name) for name in ("tpot_ms_measured", "ttft_ms_measured", "power_w_measured")}
    if not any(told.values()):
        raise UserError(
            f"row {number} measures nothing",
            "give tpot_ms_measured, ttft_ms_measured or power_w_measured (of a device)",
        )
    try:
        costs = point.costs()
        loop = point.loop(costs)
    except (Infeasible, ValueError) as refusal:
        raise UserError(
            f"row {number} was measured, but cannot run by the device's description: {refusal}", "mend one of both"
        ) from refusal
    watts = None if loop.power_w is None else loop.power_w / costs.devices
    step = _off(number, "tpot", told["tpot_ms_measured"], loop.tpot_s * 1e3)
    first = _off(number, "ttft", told["ttft_ms_measured"], loop.ttft_s * 1e3)
    return Residual(
        served=(point.model.name, costs.engine.name),
        sigma=sigma_of(costs.interval),
        step=step,
        first=first - (step or 0.0) if first is not None and point.users <= _FEW_USERS else None,
        power=_off(number, "power", told["power_w_measured"], watts),
    )


def _off(number: int, name: str, told: float | None, predicted: float | None) -> float | None:
    if told is None or predicted is None:
        return None
    error = math.log(told / predicted)
    if abs(error) > _FARTHEST:
        raise UserError(
            f"row {number}: {name} {told:g} is {math.exp(abs(error)):.0f} times {'more' if error > 0 else 'less'} than predicted",
            "times are in milliseconds, power in watts of one device",
        )
    return error
