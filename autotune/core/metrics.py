"""The one table of metrics: name, unit, which way is better, and how people read it."""

from __future__ import annotations

import re
from typing import Literal

from autotune.core.errors import UserError, nearest
from autotune.core.frozen import Frozen

__all__ = ["FAMILIES", "Goal", "Metric", "find_metric", "percentile_of", "percentile_suffix"]

Goal = Literal["min", "max"]


class Metric(Frozen):
    """A metric: ``unit`` is SI; ``shown_unit`` is what people read, ``shown_factor`` what SI is multiplied by for it."""

    name: str
    unit: str
    goal: Goal
    shown_unit: str
    shown_factor: float
    label: str

    @property
    def shown_name(self) -> str:
        """The name with the unit people read, as MLflow shows it: ``latency_p50_ms``."""
        suffix = "per_s" if self.shown_unit == "/s" else self.shown_unit.lower()
        return f"{self.name}_{suffix}" if suffix else self.name

    @property
    def relative(self) -> bool:
        """Whether differences are read as ratios (metrics with a unit), not as absolute differences (unit 1)."""
        return self.unit != "1"

    def better(self, a: float, b: float) -> bool:
        """Whether ``a`` is strictly better than ``b``."""
        return a < b if self.goal == "min" else a > b


# family -> (unit, goal, shown unit, factor, label); families ending in _p take any percentile
FAMILIES: dict[str, tuple[str, Goal, str, float, str]] = {
    "latency_p": ("s", "min", "ms", 1e3, "latency"),
    "ttft_p": ("s", "min", "ms", 1e3, "time to first token"),
    "tpot_p": ("s", "min", "ms", 1e3, "time per output token"),
    "itl_p": ("s", "min", "ms", 1e3, "inter-token latency"),
    "response_p": ("s", "min", "ms", 1e3, "response time"),
    "load_time": ("s", "min", "s", 1.0, "load time"),
    "lead_time": ("s", "min", "d", 1 / 86400, "lead time"),
    "build_time": ("s", "min", "s", 1.0, "build time"),
    "throughput": ("1/s", "max", "/s", 1.0, "throughput"),
    "output_throughput": ("1/s", "max", "/s", 1.0, "output throughput"),
    "request_rate": ("1/s", "max", "/s", 1.0, "request rate"),
    "goodput": ("1/s", "max", "/s", 1.0, "goodput"),
    "max_rate": ("1/s", "max", "/s", 1.0, "highest rate"),
    "energy": ("J", "min", "mJ", 1e3, "energy per item"),
    "energy_per_token": ("J", "min", "mJ", 1e3, "energy per token"),
    "power": ("W", "min", "W", 1.0, "power"),
    "battery_life": ("s", "max", "h", 1 / 3600, "battery life"),
    "memory": ("bytes", "min", "MB", 1e-6, "peak memory"),
    "size": ("bytes", "min", "MB", 1e-6, "size"),
    "cost_per_million_tokens": ("USD", "min", "USD", 1.0, "cost per million tokens"),
    "cost_per_million_items": ("USD", "min", "USD", 1.0, "cost per million items"),
    "cost_per_month": ("USD", "min", "USD", 1.0, "cost per month"),
    "accuracy": ("1", "max", "", 1.0, "accuracy"),
    "fidelity": ("1", "max", "", 1.0, "fidelity"),
    "availability": ("1", "max", "", 1.0, "availability"),
    "utilisation": ("1", "max", "", 1.0, "utilisation"),
    "accuracy_drop": ("1", "min", "", 1.0, "accuracy drop"),
    "perplexity": ("1", "min", "", 1.0, "perplexity"),
    "kv_waste": ("1", "min", "", 1.0, "KV waste"),
    "device_count": ("1", "min", "", 1.0, "devices"),
}

_PERCENTILE = re.compile(r"([a-z_]+_p)(\d{1,2})(?:_(\d+))?")


def find_metric(name: str) -> Metric:
    """Return the metric of that name; any percentile (``latency_p99_9``) exists. Raises ``UserError`` with the nearest name."""
    match = _PERCENTILE.fullmatch(name)
    family = match[1] if match else name
    if family not in FAMILIES or (match is None and name.endswith("_p")):
        raise UserError(f"there is no metric {name!r}{nearest(name, _names())}", f"metrics: {', '.join(_names())}")
    unit, goal, shown_unit, factor, label = FAMILIES[family]
    if match:
        label = f"{label} {name[len(family) - 1 :].replace('_', '.')}"
    return Metric(name=name, unit=unit, goal=goal, shown_unit=shown_unit, shown_factor=factor, label=label)


def percentile_of(name: str) -> float | None:
    """Return 99.9 for ``latency_p99_9``, 50.0 for ``ttft_p50``; None for a metric that is no percentile."""
    match = _PERCENTILE.fullmatch(name)
    return float(f"{match[2]}.{match[3] or 0}") if match else None


def percentile_suffix(percentile: float) -> str:
    """Return ``"p99_9"`` for 99.9 and ``"p50"`` for 50."""
    return f"p{percentile:g}".replace(".", "_")


def _names() -> list[str]:
    return [f"{family}50" if family.endswith("_p") else family for family in FAMILIES]
