"""What queueing theory says of the simplest server: the yardstick of the batcher and of the queue model."""

from __future__ import annotations

import math

__all__ = ["md1_response_s", "md1_waits_at_most"]


def md1_waits_at_most(wait_s: float, rate_per_s: float, service_s: float) -> float:
    """The share of requests that wait ``wait_s`` or less: Poisson arrivals, one server, each service of the same length.

    Crommelin, "Delay probability formulae", P.O. Electrical Engineers' Journal 1934; as in Gross et al., "Fundamentals of
    Queueing Theory", 4th ed., 5.1.5. The sum alternates: it is good for waits of up to some twenty services.
    """
    terms = (
        (rate_per_s * (number * service_s - wait_s)) ** number
        / math.factorial(number)
        * math.exp(-rate_per_s * (number * service_s - wait_s))
        for number in range(math.floor(wait_s / service_s) + 1)
    )
    return (1 - rate_per_s * service_s) * math.fsum(terms)


def md1_response_s(percentile: float, rate_per_s: float, service_s: float) -> float:
    """That percentile of the time from arrival to answer, in seconds."""
    low, high = 0.0, 30 * service_s
    for _ in range(60):
        middle = (low + high) / 2
        if md1_waits_at_most(middle, rate_per_s, service_s) < percentile / 100:
            low = middle
        else:
            high = middle
    return high + service_s
