"""The load that a language model serves: how requests arrive, and how many tokens they bring and want."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from autotune.core.frozen import Frozen

__all__ = ["NORMAL_P90", "WIDEST_P90", "Arrivals", "TokenCounts", "TokenLoad"]

Arrivals = Literal["poisson", "steady", "bursty", "diurnal"]

NORMAL_P90 = 1.2815515655446004  # the standard normal distribution's 90th percentile
WIDEST_P90 = math.exp(NORMAL_P90**2 / 2)  # the largest p90 / mean that a log-normal distribution can have


class TokenCounts(Frozen):
    """How many tokens a request has, at least 1.

    ``p90`` None: always ``mean``, rounded. Otherwise log-normal with that mean and 90th percentile (``mean`` <= ``p90`` <=
    2.27 ``mean``), the shape that lengths in served traces have. ``values``, where given, are drawn instead, each as often.
    """

    mean: float
    p90: float | None = None
    values: tuple[int, ...] = ()

    @property
    def sigma(self) -> float:
        """The log-normal's standard deviation of logarithms; 0 when every request has as many tokens."""
        if self.p90 is None:
            return 0.0
        return NORMAL_P90 - math.sqrt(max(0.0, NORMAL_P90**2 - 2 * math.log(self.p90 / self.mean)))


class TokenLoad(Frozen):
    """What the requests of a phase are like.

    ``users``: a closed loop of so many, each sending its next request when the last was answered; None: an open loop at the
    phase's rate. ``arrivals`` of the open loop: ``bursty`` has gamma-distributed gaps whose coefficient of variation is
    ``burstiness``; ``diurnal`` is Poisson at a rate that swings as a sine of period ``period_s`` up to ``peak`` times its mean.
    ``shared_prefix_tokens`` of every input are the same text (part of ``input_tokens``). A conversation has ``turns``: each
    input but the first holds everything said before plus a new message, and is sent ``think_time_s`` after the last answer.
    ``priorities``: the share of requests of priority 0 (served first), 1, …; empty: all alike.
    ``trace`` is a CSV file that replaces arrivals and lengths. ``requests`` is how many to send; None: as many as arrive.
    """

    input_tokens: TokenCounts = TokenCounts(mean=512)
    output_tokens: TokenCounts = TokenCounts(mean=128)
    users: int | None = None
    arrivals: Arrivals = "poisson"
    burstiness: float = 2.0
    period_s: float = 86_400.0
    peak: float = 2.0
    shared_prefix_tokens: int = 0
    turns: int = Field(default=1, ge=1)
    think_time_s: float = 0.0
    priorities: tuple[float, ...] = ()
    trace: str | None = None
    requests: int | None = None
    seed: int = 0
