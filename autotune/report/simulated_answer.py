"""The answer of a simulated search in a sentence: how many of what, in which configuration, at what cost, and what comes next."""

from __future__ import annotations

from autotune.core.figures import format_interval, format_number, format_value
from autotune.core.front import Front, Point
from autotune.core.limits import parse_limit
from autotune.core.metrics import find_metric
from autotune.core.simulated_pairs import log_difference
from autotune.core.values import Value

__all__ = ["by_cost", "simulated_sentence"]

_COSTS = ("cost_per_month", "cost_per_million_tokens", "energy_per_token")
_LAYOUT = ("runtime", "tp", "pp")
_SAID_OF_COST = {"cost_per_month": "USD a month", "cost_per_million_tokens": "USD per million tokens"}


def by_cost(front: Front) -> list[Point]:
    """The front's points, cheapest first: by the month, by the token, else by its energy. In the front's order without any."""
    name = _cost(front)
    if name is None:
        return list(front.points)
    return sorted(front.points, key=lambda point: _number(point, name))


def simulated_sentence(front: Front) -> str | None:
    """What to buy or rent; None when the front has no point whose devices are counted."""
    ranked = [point for point in by_cost(front) if _count(point) is not None]
    if not ranked:
        return None
    best = ranked[0]
    told = [text for text in (_price(front, best) + _rests_on(front, best), *_times(front, best)) if text]
    text = (
        f"Use {best.id}: {_fleet(best)}{_purpose(front)}: {', '.join(told)}; simulated, not measured{_grounds(best)}."
    )
    return f"{text}{_runner_up(front, ranked)}"


def _grounds(point: Point) -> str:
    """What its times rest on: measured kernels of the device (fitted), of another format (interpolated), or none (roofline)."""
    times = (value for name, value in point.metrics.items() if name.startswith(("ttft_", "tpot_")))
    basis = next((value.basis for value in times if value.basis), None)
    return f" ({basis})" if basis else ""


def _fleet(point: Point) -> str:
    """``12 × h100-sxm (3 replicas of tp=4 pp=1; precision=fp8 …)``."""
    each = int(point.candidate.get("tp", 1)) * int(point.candidate.get("pp", 1))
    other = str(point.candidate.get("decode_device", "none"))
    decoding = (
        int(point.candidate.get("decode_tp", 1)) * int(point.candidate.get("decode_pp", 1)) if other != "none" else 0
    )
    replicas = (_count(point) or each + decoding) // (each + decoding)
    devices = f"{replicas * each} × {point.device}" + (f" and {replicas * decoding} × {other}" if decoding else "")
    layout = " ".join(f"{name}={point.candidate[name]}" for name in ("tp", "pp") if name in point.candidate)
    rest = " ".join(f"{name}={value}" for name, value in point.candidate.items() if name not in _LAYOUT)
    return f"{devices} ({replicas} replica{'s' if replicas > 1 else ''} of {layout}; {rest})"


def _purpose(front: Front) -> str:
    phase = front.workload.serving
    if phase is None or phase.rate_per_s is None:
        return ""
    return f" to serve {phase.rate_per_s:g} requests a second of {front.workload.name}"


def _price(front: Front, point: Point) -> str:
    name = _cost(front)
    value = point.metrics.get(name) if name is not None else None
    if name is None or value is None or value.value is None:
        return "at an unknown cost"
    if name not in _SAID_OF_COST:
        return f"{find_metric(name).label} {format_value(name, value, interval=True)}"
    return f"{_dollars(value.value)} {_SAID_OF_COST[name]}{_ends(value)}"


def _rests_on(front: Front, point: Point) -> str:
    """Whether that is rent or ownership, at which prices, and who says so."""
    value = point.metrics.get(_cost(front) or "")
    paid = value is not None and value.known and value.unit == "USD" and value.basis
    return f" [{value.basis}]" if value is not None and paid else ""


def _times(front: Front, point: Point) -> list[str]:
    """Its first token and whatever is limited, each with its interval."""
    limited = [parse_limit(text).metric for text in front.limits]
    names = dict.fromkeys(["ttft_p90", *(name for name in limited if name not in _SAID_OF_COST)])
    found = ((name, point.metrics.get(name)) for name in names)
    return [_time(name, value) for name, value in found if value is not None and value.known]


def _time(name: str, value: Value) -> str:
    metric = find_metric(name)
    unit = f" {metric.shown_unit}" if metric.shown_unit else ""
    return f"{metric.label} {format_number((value.value or 0.0) * metric.shown_factor)}{unit}{_ends(value, metric.shown_factor)}"


def _ends(value: Value, factor: float = 1.0) -> str:
    ends = format_interval(value, factor)
    return f" ({ends})" if ends else ""


def _runner_up(front: Front, ranked: list[Point]) -> str:
    """The next that is not the same hardware in the same layout; a tie when the interval of their difference covers none."""
    best = ranked[0]
    other = next((point for point in ranked[1:] if _hardware(point) != _hardware(best)), None)
    if other is None:
        return ""
    tie = " (a tie: which one costs less is not known)" if _tied(front, best, other) else ""
    grounds = _grounds(other) if other.device != best.device else ""
    return f" Runner-up {other.id}: {_fleet(other)}, {_price(front, other)}{grounds}{tie}."


def _hardware(point: Point) -> tuple[object, ...]:
    return point.device, point.candidate.get("tp"), point.candidate.get("pp"), point.candidate.get("precision")


def _tied(front: Front, a: Point, b: Point) -> bool:
    name = _cost(front)
    values = [point.metrics.get(name) for point in (a, b)] if name is not None else []
    if any(value is None or not value.value for value in values):
        return False
    low, high = log_difference(*values, paired=a.device == b.device)  # type: ignore[arg-type]  # none of them is None
    return low <= 0 <= high


def _cost(front: Front) -> str | None:
    """The first kind of cost that some point of the front has."""
    phase = front.workload.serving
    fleet = phase is not None and phase.rate_per_s is not None
    names = _COSTS if fleet else _COSTS[1:]
    return next((name for name in names if any(_number(point, name) < float("inf") for point in front.points)), None)


def _number(point: Point, name: str) -> float:
    value = point.metrics.get(name)
    return value.value if value is not None and value.value is not None else float("inf")


def _count(point: Point) -> int | None:
    value = point.metrics.get("device_count")
    return round(value.value) if value is not None and value.value is not None else None


def _dollars(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else format_number(number)
