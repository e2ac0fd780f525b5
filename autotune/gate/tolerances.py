"""How much worse each metric may become: ``"latency_p50=5%"`` as people write it, and the defaults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from autotune.core.errors import UserError, nearest
from autotune.core.metrics import Metric, find_metric, percentile_of

__all__ = ["DEFAULTS", "HYPERVOLUME", "gateable", "once", "parse_tolerances", "require_measurable", "widened"]

Given = TypeVar("Given")

HYPERVOLUME = "hypervolume"

DEFAULTS: Mapping[str, float] = {
    "latency_p50": 0.05,
    "throughput": 0.05,
    "response_p50": 0.05,
    "request_rate": 0.05,
    "memory": 0.05,
    "size": 0.01,
    "accuracy": 0.01,
    "fidelity": 0.01,
    HYPERVOLUME: 0.05,
}
"""Relative for metrics with a unit, absolute for those of unit 1. Tails, energy and the highest rate are judged only when a
tolerance is given."""

_JUDGED = (*DEFAULTS, "energy", "latency_p90", "latency_p99", "response_p90", "response_p99", "goodput", "max_rate")
_TIMES = ("latency_p", "response_p")
_SIMULATED = (
    *("ttft_p", "tpot_p", "itl_p", "output_throughput", "utilisation", "kv_waste"),
    *(
        "energy_per_token",
        "power",
        "battery_life",
        "lead_time",
        "cost_per_million_tokens",
        "cost_per_month",
        "device_count",
    ),
)
_TOLERANCE = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(\d+\.?\d*|\.\d+)\s*(%?)\s*")


def parse_tolerances(texts: Sequence[str]) -> dict[str, float]:
    """Return the given tolerances by metric. Raises ``UserError`` for what cannot be read or judged, or is said twice."""
    return once("--tolerance", [_parse(text) for text in texts])


def once(option: str, given: Sequence[tuple[str, Given]]) -> dict[str, Given]:
    """What was given by metric. Raises ``UserError`` when two say something of one metric."""
    found: dict[str, Given] = {}
    for metric, value in given:
        if metric in found:
            raise UserError(f"{option} {metric} is given twice: {found[metric]} and {value}", "give one of them")
        found[metric] = value
    return found


def gateable(name: str) -> bool:
    """Whether a gate can judge this metric at all."""
    return _measurable(name) or name.startswith(_SIMULATED)


def require_measurable(metrics: Iterable[str]) -> None:
    """Raise ``UserError`` for a metric that only simulated baselines have."""
    for metric in metrics:
        if not _measurable(metric):
            raise UserError(
                f"--tolerance {metric}: only a simulated baseline has it", f"measured: {', '.join(_JUDGED)}"
            )


def _measurable(name: str) -> bool:
    if name == HYPERVOLUME:
        return True
    find_metric(name)
    return name in _JUDGED or (name.startswith(_TIMES) and (percentile_of(name) or 0) > 50)


def widened(metric: str, tolerance: float, accepted: float) -> float:
    """The tolerance beside an accepted loss: both together, from the same baseline.

    Relative losses follow one another (1.10 times 1.05 for a latency, 0.90 times 0.95 for a throughput), absolute ones add.
    """
    if metric != HYPERVOLUME and not find_metric(metric).relative:
        return accepted + tolerance
    grows = metric != HYPERVOLUME and find_metric(metric).goal == "min"
    return (1 + accepted) * (1 + tolerance) - 1 if grows else 1 - (1 - accepted) * (1 - tolerance)


def _parse(text: str) -> tuple[str, float]:
    match = _TOLERANCE.fullmatch(text)
    if match is None:
        raise UserError(
            f"--tolerance {text!r} cannot be read", 'write METRIC=NUMBER or METRIC=NUMBER%: "latency_p50=5%"'
        )
    if not gateable(match[1]):
        close = nearest(match[1], _JUDGED)
        raise UserError(
            f"--tolerance {text!r}: a gate does not judge {match[1]}{close}", f"judged: {', '.join(_JUDGED)}"
        )
    number = float(match[2]) / (100 if match[3] else 1)
    if not match[3] and match[1] != HYPERVOLUME and _relative(find_metric(match[1])) and number >= 1:
        raise UserError(
            f"--tolerance {text!r} allows {number:g} times", f"for {number:g} %, write {match[1]}={match[2]}%"
        )
    return match[1], number


def _relative(metric: Metric) -> bool:
    return metric.relative
