"""The metrics of a simulated server, by the names of ``autotune.core.metrics``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from autotune.core.limits import Limit
from autotune.core.metrics import find_metric, percentile_of
from autotune.core.values import Value
from autotune_backends.simulated.serving.result import ServingResult, Times

__all__ = ["PERCENTILES", "metrics"]

PERCENTILES = (50, 90, 99)


def metrics(
    result: ServingResult,
    limits: Sequence[Limit] = (),
    *,
    basis: str | None = None,
) -> dict[str, Value]:
    """Every metric of a simulation, provenance ``simulated``; what is unknown is left out.

    ``limits`` on times hold for each request in ``goodput``, the requests a second that held all of them; without such
    limits there is none. Energy, cost and intervals are the caller's to add: power, price and doubt are the devices'.
    """
    values = dict(_times(result)) | _rates(result) | _shares(result)
    if (good := _goodput(result, limits)) is not None:
        values["goodput"] = good
    count = len(result.e2e_s)
    return {
        name: Value(value=value, unit=find_metric(name).unit, n=count, provenance="simulated", basis=basis)
        for name, value in values.items()
    }


def _times(result: ServingResult) -> Iterator[tuple[str, float]]:
    families = {"ttft": result.ttft_s, "tpot": result.tpot_s, "latency": result.e2e_s}
    for family, times in families.items():
        if times.size:
            found = np.percentile(times, PERCENTILES)
            yield from ((f"{family}_p{p}", float(value)) for p, value in zip(PERCENTILES, found, strict=True))
    if result.itl_s.size:
        yield from _gaps(result.itl_s, result.itl_weight)


def _gaps(gaps_s: Times, weights: Times) -> Iterator[tuple[str, float]]:
    order = np.argsort(gaps_s)
    reached = np.cumsum(weights[order])
    for p in PERCENTILES:
        index = min(int(np.searchsorted(reached, reached[-1] * p / 100)), len(order) - 1)
        yield f"itl_p{p}", float(gaps_s[order][index])


def _rates(result: ServingResult) -> dict[str, float]:
    if result.window_s > 0:
        tokens, requests = result.in_window()
        return {"output_throughput": tokens / result.window_s, "request_rate": requests / result.window_s}
    return {
        "output_throughput": float(result.output_tokens.sum()) / result.span_s,
        "request_rate": len(result.e2e_s) / result.span_s,
    }


def _shares(result: ServingResult) -> dict[str, float]:
    """Utilisation: the time that steps ran, each weighed by the share of its slots that held an unfinished request.

    KV waste: of the room in pages that sequences held, step by step, the part that no token filled.
    """
    counters = result.counters
    shares = {"utilisation": min(1.0, counters.useful_s / result.span_s)}
    if counters.kv_held:
        shares["kv_waste"] = 1 - counters.kv_used / counters.kv_held
    return shares


def _goodput(result: ServingResult, limits: Sequence[Limit]) -> float | None:
    each = {"ttft": result.ttft_s, "tpot": _tpot_of_each(result), "latency": result.e2e_s}
    good: NDArray[np.bool_] = np.ones(len(result.e2e_s), dtype=np.bool_)
    judged = False
    for limit in limits:
        times = each.get(limit.metric.split("_p")[0]) if percentile_of(limit.metric) is not None else None
        if times is not None and limit.sign == "<=":
            good &= times <= limit.bound
            judged = True
    return float(good.sum()) / result.span_s if judged else None


def _tpot_of_each(result: ServingResult) -> Times:
    times: Times = np.zeros(len(result.e2e_s))
    times[result.output_tokens > 1] = result.tpot_s
    return times
