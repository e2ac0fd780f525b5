"""The one real measurement that would narrow a simulated search's decision most."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import NormalDist

from autotune.core.frozen import Frozen
from autotune.core.limits import Limit
from autotune.core.metrics import find_metric
from autotune.core.trial import TrialRecord
from autotune.core.values import Value
from autotune.searching.choice_doubt import Axis, Contender, wrong_after, wrong_now
from autotune.searching.feasibility import violation

__all__ = ["NextMeasurement", "next_measurement"]

_PRICES = ("cost_per_month", "cost_per_million_tokens", "energy_per_token")
_AT_MOST = 40  # contenders: who is cheaper comes first
_LAYOUT = ("tp", "pp", "precision")
_QUALITY = ("fidelity", "accuracy")
_STEP = "tpot_p50"
_STEPS = (_STEP, "itl_p50", "itl_p90", "tpot_p90")  # the narrowest is nearest to a step: a queue widens others


class NextMeasurement(Frozen):
    """``chosen`` is a wrong choice with probability ``wrong_now``; once ``trial`` has been measured, the choice then made is with
    ``wrong_after``. ``others``: what measuring other trials would leave, the best first. ``trial`` None: nothing would lower it.
    """

    chosen: str
    wrong_now: float
    trial: str | None
    wrong_after: float
    others: dict[str, float]


def next_measurement(
    records: Iterable[TrialRecord], limits: Sequence[Limit], confidence: float, *, fleet: bool
) -> NextMeasurement | None:
    """Of the measured trials of a simulated search. ``fleet``: replicas are counted so that limits hold, and cost what they cost.

    None: no trial has a price that could be compared.
    """
    deviations = NormalDist().inv_cdf((1 + confidence) / 2)
    able = [record for record in records if not _breaks_what_is_published(record, limits)]
    contenders = _contenders(_best_of_each_layout(able, limits, fleet), limits, deviations, fleet)
    if not contenders:
        return None
    choice, now = wrong_now(contenders, deviations)
    after = {one.trial: wrong_after(contenders, index, deviations) for index, one in enumerate(contenders)}
    ranked = dict(sorted(after.items(), key=lambda item: item[1]))
    best, least = next(iter(ranked.items()))
    useful = least < now
    return NextMeasurement(
        chosen=choice,
        wrong_now=now,
        trial=best if useful else None,
        wrong_after=least if useful else now,
        others=dict(list(ranked.items())[1:6]) if useful else {},
    )


def _breaks_what_is_published(record: TrialRecord, limits: Sequence[Limit]) -> bool:
    """Whether it is out of the choice whatever is measured of its speed."""
    metrics = record.measurement.metrics if record.measurement is not None else {}
    return any(_published(limit, metrics) and violation(limit, metrics) > 0 for limit in limits)


def _published(limit: Limit, metrics: Mapping[str, Value]) -> bool:
    """Of an unknown quality, too: nobody published any."""
    value = metrics.get(limit.metric)
    return limit.metric in _QUALITY if value is None else value.provenance == "published"


def _best_of_each_layout(records: Iterable[TrialRecord], limits: Sequence[Limit], fleet: bool) -> list[TrialRecord]:
    """The cheapest trial of each device and layout, first by the limits that it breaks; cheapest first.

    A choice among settings of one layout is none of hardware, and their errors are the same.
    """
    best: dict[tuple[object, ...], tuple[tuple[float, float], TrialRecord]] = {}
    for record in records:
        if record.measurement is None or (price := _price(record.measurement.metrics, fleet)) is None:
            continue
        trial, metrics = record.trial, record.measurement.metrics
        rank = sum(max(0.0, violation(limit, metrics)) for limit in limits), price[1]
        layout = (trial.device, *(trial.candidate.get(name) for name in _LAYOUT))
        if layout not in best or rank < best[layout][0]:
            best[layout] = rank, record
    return [record for _, record in sorted(best.values(), key=lambda item: item[0])]


def _contenders(
    records: Sequence[TrialRecord], limits: Sequence[Limit], deviations: float, fleet: bool
) -> list[Contender]:
    found = [_contender(record, limits, deviations, fleet) for record in records]
    return [one for one in found if one is not None][:_AT_MOST]


def _contender(record: TrialRecord, limits: Sequence[Limit], deviations: float, fleet: bool) -> Contender | None:
    assert record.measurement is not None
    metrics = record.measurement.metrics
    steps = [metrics[name] for name in _STEPS if _known(metrics, name)]
    step, price = min(steps, key=_width, default=None), _price(metrics, fleet)
    if step is None or price is None:
        return None
    return Contender(
        trial=record.trial.id,
        device=record.trial.device,
        common=step.common or 0.0,
        axes=(
            _sized(price[1], step, deviations) if fleet else _axis(price[0], metrics[price[0]], deviations),
            *(
                _axis(limit.metric, metrics[limit.metric], deviations, limit)
                for limit in limits
                if not fleet and limit.bound > 0 and not _published(limit, metrics) and _known(metrics, limit.metric)
            ),
        ),
    )


def _width(value: Value) -> float:
    low, high = value.interval()
    return high / max(low, 1e-12)


def _known(metrics: Mapping[str, Value], name: str) -> bool:
    value = metrics.get(name)
    return value is not None and value.known


def _price(metrics: Mapping[str, Value], fleet: bool) -> tuple[str, float] | None:
    """The first kind of price that is known: its name and its value. What one replica costs a month is no price of its tokens."""
    for name in _PRICES if fleet else _PRICES[1:]:
        value = metrics.get(name)
        if value is not None and value.value:
            return name, value.value
    return None


def _axis(name: str, value: Value, deviations: float, limit: Limit | None = None) -> Axis:
    """A metric of which more is better falls with the error of a step's time: its negative rises."""
    assert value.value is not None
    low, high = (max(end, 1e-12) for end in value.interval())
    number = max(value.value, 1e-12)
    above, below = math.log(high / number) / deviations, math.log(number / low) / deviations
    bound = None if limit is None else math.log(limit.bound)
    if find_metric(name).goal == "min":
        return Axis(math.log(number), above, below, bound, careful=limit is not None)
    return Axis(-math.log(number), below, above, None if bound is None else -bound, careful=limit is not None)


def _sized(price: float, step: Value, deviations: float) -> Axis:
    """A fleet was sized for steps as slow as they may be: were their time known, its replicas would follow it."""
    axis = _axis(_STEP, step, deviations)
    return Axis(math.log(price) - deviations * axis.above, axis.above, axis.below, careful=True)
