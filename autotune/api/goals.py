"""``--goal``: one word for what to optimise and under which load."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.api.settings import SearchSettings
from autotune.core.dataset import DataFacts
from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError, nearest

__all__ = ["GOALS", "goal_objectives", "with_goals_load"]

GOALS = ("latency", "throughput", "cost", "energy")

# goal -> the objectives beside quality: of what is measured, and of a simulated language model
_MEASURED = {"latency": ("latency_p50",), "throughput": ("throughput",), "energy": ("energy", "latency_p50")}
_SIMULATED = {
    "latency": ("ttft_p90", "tpot_p50"),
    "throughput": ("output_throughput", "ttft_p90"),
    "cost": ("cost_per_million_tokens", "ttft_p90"),
    "energy": ("energy_per_token", "ttft_p90"),
}
_LOADS = {"latency": "latency", "throughput": "throughput"}


def with_goals_load(settings: SearchSettings) -> SearchSettings:
    """The settings with the goal's own workload, unless another than the default was asked for. Without a goal, unchanged.

    Raises ``UserError`` for an unknown goal, and for one beside objectives.
    """
    if settings.goal is None:
        return settings
    if settings.goal not in GOALS:
        raise UserError(
            f"there is no goal {settings.goal!r}{nearest(settings.goal, GOALS)}", f"goals: {', '.join(GOALS)}"
        )
    if settings.objectives:
        raise UserError("--goal and --objective both say what to optimise", "give one of them")
    load = _LOADS.get(settings.goal) if settings.workload == "default" else None
    return settings.model_copy(update={"workload": load}) if load else settings


def goal_objectives(
    settings: SearchSettings, devices: Sequence[DeviceSpec], data: DataFacts, *, energy: bool
) -> tuple[str, ...]:
    """The objectives that were asked for by name or by goal; empty: the defaults. Quality is always among a goal's.

    Raises ``UserError`` where the goal cannot be known: a cost without prices, energy without a counter or a power model.
    """
    goal = settings.goal
    if goal is None:
        return settings.objectives
    if devices[0].kind == "simulated":
        return _SIMULATED[goal]
    if goal == "cost":
        names = ", ".join(device.name for device in devices)
        raise UserError(
            f"--goal cost: no price is known of the real device {names}",
            "take --goal throughput (at a fixed price, the cost of an item falls as throughput grows) or simulated devices",
        )
    if goal == "energy" and not energy:
        raise UserError(
            "--goal energy: energy is unknown here: no counter, and no power model of this CPU",
            "give one with --power-model FILE, and leave --energy off out",
        )
    return (*_MEASURED[goal], "accuracy" if data.labels else "fidelity")
