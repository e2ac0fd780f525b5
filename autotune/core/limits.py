"""A limit: a bound that a point must hold (a service-level objective)."""

from __future__ import annotations

import re
from typing import Literal

from autotune.core.errors import UserError
from autotune.core.frozen import Frozen
from autotune.core.metrics import find_metric
from autotune.core.units import parse_quantity
from autotune.core.values import Value

__all__ = ["Limit", "Standing", "parse_limit"]

Standing = Literal["held", "broken", "undecided"]

_LIMIT = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(<=|>=)\s*(.+?)\s*")


class Limit(Frozen):
    """``metric <= bound`` or ``metric >= bound``; ``bound`` in the metric's SI unit; ``text`` as the person wrote it."""

    metric: str
    sign: Literal["<=", ">="]
    bound: float
    text: str

    def excess(self, value: float) -> float:
        """How far ``value`` is beyond the bound, in the metric's unit; 0 or less when it holds."""
        return value - self.bound if self.sign == "<=" else self.bound - value

    def standing(self, value: Value) -> Standing:
        """Held or broken when the whole interval is on one side; undecided when it straddles the bound or is unknown."""
        if value.value is None:
            return "undecided"
        excesses = [self.excess(end) for end in value.interval()]
        if all(excess <= 0 for excess in excesses):
            return "held"
        return "broken" if all(excess > 0 for excess in excesses) else "undecided"


def parse_limit(text: str) -> Limit:
    """Read ``"latency_p50<=5ms"``. Raises ``UserError`` when it cannot be read or the metric does not exist."""
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise UserError(
            f"--limit {text!r} cannot be read", 'write METRIC<=VALUE or METRIC>=VALUE, for example "latency_p50<=5ms"'
        )
    metric = find_metric(match[1])
    bound = parse_quantity(match[3], metric.unit)
    return Limit(metric=metric.name, sign="<=" if match[2] == "<=" else ">=", bound=bound, text=text.strip())
