"""What the simulator says of rows that it was not fitted to: a model left out, a device left out, a format left out."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import median

import numpy as np

from autotune_backends.simulated.devices import SimulatedDevice, device_named
from autotune_backends.simulated.fitted import Errors, interval_of
from autotune_backends.simulated.power import DevicePower
from autotune_backends.simulated.screen import ClosedLoop
from benchmarks.simulator_constants import (
    CHAT_ENGINE,
    Constants,
    all_chats,
    all_served,
    fit_constants,
)
from benchmarks.simulator_kernels import KERNELS, fitted_device, unmeasured_device
from benchmarks.simulator_rows import Row, rows
from benchmarks.simulator_served import Chat, Served, served

__all__ = [
    "ScoredChat",
    "ScoredPoint",
    "covered",
    "error_model",
    "held_out_chats",
    "held_out_kernels",
    "held_out_points",
    "scored_chats",
    "scored_points",
    "without_device",
    "without_format",
]

_NORMAL_80 = 1.2815515655446004  # 80 % of a normal distribution lie within so many standard deviations
_CHIPS = (("a100-sxm",), ("h100-sxm", "h200-sxm"), ("l40s",))  # H200 is H100's chip with another memory
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class ScoredPoint:
    """A served point and its prediction; its properties are predicted over measured."""

    served: Served
    loop: ClosedLoop

    @property
    def tpot(self) -> float:
        """Of the time a token."""
        return self.served.tpot(self.loop)

    @property
    def ttft(self) -> float | None:
        """Of the first token's; None where it is not scored."""
        return self.served.ttft(self.loop) if self.served.few_users else None


@dataclass(frozen=True, slots=True)
class ScoredChat:
    """A chat, and its power and seconds a token, predicted over measured."""

    chat: Chat
    power: float
    rate: float

    @property
    def energy(self) -> float:
        """Joules a token."""
        return self.power * self.rate


def scored_points(points: Iterable[Served], constants: Constants) -> list[ScoredPoint]:
    """Predicted with these constants."""
    return [ScoredPoint(one, one.loop(constants.engines[one.engine])) for one in points]


def scored_chats(talks: Iterable[Chat], constants: Constants) -> list[ScoredChat]:
    """Predicted with these constants."""
    engine = constants.engines[CHAT_ENGINE]
    return [_scored_chat(one, one.loop(engine), constants.power) for one in talks]


def _scored_chat(chat: Chat, loop: ClosedLoop, power: DevicePower) -> ScoredChat:
    return ScoredChat(chat, chat.power(loop, power), chat.rate(loop))


def models() -> list[str]:
    """Every model of which rows were measured."""
    return sorted({one.model for one in all_served()} | {one.model for one in all_chats()})


@cache
def _without(model: str) -> Constants:
    """Fitted to what is not of that model."""
    return fit_constants(
        [one for one in all_served() if one.model != model], [one for one in all_chats() if one.model != model]
    )


def held_out_points(points: Sequence[Served] | None = None) -> list[ScoredPoint]:
    """Each point with constants that were fitted to other models' rows."""
    found = all_served() if points is None else points
    return [scored for one in found for scored in scored_points([one], _without(one.model))]


def held_out_chats() -> list[ScoredChat]:
    """Likewise."""
    return [scored for one in all_chats() for scored in scored_chats([one], _without(one.model))]


@cache
def without_device() -> list[ScoredPoint]:
    """The points as if no kernel of their device, and no row of their model, had been measured."""
    return held_out_points(served(rows("serving_measured.csv"), _as_unmeasured))


@cache
def without_format() -> list[ScoredPoint]:
    """The points as if of their device only kernels in bf16 had been measured, and no all-reduce; none of their model."""
    return held_out_points(served(rows("serving_measured.csv"), _in_one_format))


def _as_unmeasured(device: SimulatedDevice) -> SimulatedDevice:
    return unmeasured_device(
        device, [device_named(name) for chip in _CHIPS if device.name not in chip for name in chip]
    )


def _in_one_format(device: SimulatedDevice) -> SimulatedDevice:
    known = device.efficiency
    plain = replace(
        known,
        gemm={name: value for name, value in known.gemm.items() if name == "bf16"},
        memory={name: value for name, value in known.memory.items() if name == "bf16"},
    )
    floors = {name: value for name, value in device.gemm_floor_s.items() if name == "bf16"}
    link = None if device.link is None else replace(device.link, all_reduce={})
    return replace(device, efficiency=plain, gemm_floor_s=floors, link=link)


def held_out_kernels(kind: str, *, by_device: bool) -> list[tuple[Row, float]]:
    """Rows of that kind, predicted over measured, with a device whose shares are other chips', or were fitted to four fifths of
    its own rows that these are not among.
    """
    every = {name: rows(f"{name}_measured.csv") for name in KERNELS}
    found = []
    for system in dict.fromkeys(row["system"] for row in every[kind]):
        own = {name: [row for row in some if row["system"] == system] for name, some in every.items()}
        device = device_named(system)
        for fold in range(1 if by_device else _FOLDS):
            seen = {name: some if by_device else _but(some, fold) for name, some in own.items()}
            made = _as_unmeasured(device) if by_device else fitted_device(device, seen)
            tried = own[kind] if by_device else own[kind][fold::_FOLDS]
            found += [(row, KERNELS[kind](row, made)) for row in tried]
    return found


def _but(found: Sequence[Row], fold: int) -> list[Row]:
    return [row for place, row in enumerate(found) if place % _FOLDS != fold]


def error_model() -> Errors:
    """Standard deviations of logarithms, from what 80 % of the errors of held-out rows are within.

    Only H100 was served, so that a device without measured kernels is believed no more than products of the others are
    predicted by each other's shares. Less knowledge is never narrower.
    """
    points, talks = held_out_points(), held_out_chats()
    known = _sigma(math.log(one.tpot) for one in points)
    other_format = max(known, _sigma(math.log(one.tpot) for one in without_format()))
    products = [math.log(ratio) for _, ratio in held_out_kernels("gemm", by_device=True)]
    return Errors(
        fitted=known,
        interpolated=other_format,
        roofline=max(other_format, _sigma(math.log(one.tpot) for one in without_device()), _sigma(products)),
        own=_sigma(_about_their_medians(points)),
        first=_sigma(math.log(one.ttft / one.tpot) for one in points if one.ttft is not None),
        power=_sigma(math.log(one.power) for one in talks),
    )


def covered(points: Sequence[ScoredPoint], of: Callable[[ScoredPoint], float | None]) -> float:
    """The share of points within 80 % intervals whose width comes from the errors of other models' rows alone."""
    within = []
    for model in sorted({one.served.model for one in points}):
        errors = [math.log(ratio) for one in points if one.served.model != model and (ratio := of(one)) is not None]
        wide = math.log1p(interval_of(_sigma(errors)))
        own = [math.log(ratio) for one in points if one.served.model == model and (ratio := of(one)) is not None]
        within += [abs(error) <= wide for error in own]
    return sum(within) / len(within)


def _sigma(errors: Iterable[float]) -> float:
    return float(np.quantile([abs(error) for error in errors], 0.8)) / _NORMAL_80


def _about_their_medians(points: Sequence[ScoredPoint]) -> list[float]:
    """What differs between settings of one model, precision and engine on one device."""
    groups: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for one in points:
        key = tuple(one.served.row[name] for name in ("system", "backend", "model", "precision"))
        groups[key].append(math.log(one.tpot))
    return [error - median(group) for group in groups.values() for error in group]
