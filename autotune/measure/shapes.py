"""A load that mixes several shapes: which request was of which."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from autotune.core.samples import Requests, Samples

__all__ = ["by_shape", "median_latency"]


def by_shape(requests: Requests, taken: Sequence[Samples]) -> dict[str, list[NDArray[np.float64]]]:
    """Return the seconds of each shape's requests, one array a round, by the shape's name.

    Empty when the load is of one shape, or when some round lacks one: then no round can be compared with another.
    """
    labels = np.asarray(requests.shapes)
    if not labels.size or not taken:
        return {}
    sent = [labels[(samples.first + np.arange(len(samples.latency_s))) % len(labels)] for samples in taken]
    found = {
        str(label): [samples.latency_s[names == label] for samples, names in zip(taken, sent, strict=True)]
        for label in dict.fromkeys(requests.shapes)
    }
    return found if all(len(round_s) for rounds in found.values() for round_s in rounds) else {}


def median_latency(requests: Requests, latency_s: NDArray[np.float64]) -> float:
    """Return the median seconds of a round's requests.

    Of a mixture, the upper one where the middle falls between two requests: halfway between two shapes' times there is no
    request, and their mean would follow the slowest of one and the fastest of the other.
    """
    return float(np.quantile(latency_s, 0.5, method="higher") if requests.shapes else np.median(latency_s))
