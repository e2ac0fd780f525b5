"""What was fitted to measured rows as a whole, and how far it was off on rows that were held out: ``fitted.yaml``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import Final

__all__ = ["KNOWN_FOR", "Errors", "Fitted", "fitted", "interval_of", "sigma_of"]

KNOWN_FOR: Final = 0.8
"""The share of measurements that an interval holds, where nothing else is said."""
_FILE: Final = Path(__file__).with_name("fitted.yaml")


@dataclass(frozen=True, slots=True)
class Errors:
    """Standard deviations of ln(predicted / measured) of rows that were held out while the rest was fitted.

    Of a step's time: ``fitted`` where the device's kernels were measured in that format and no row of the model was seen,
    ``interpolated`` where another format of it was, ``roofline`` where no kernel of it was. ``own``: what differs between
    settings of one model on one device; the rest is common to them. ``first``: of the time to first token beyond its steps'.
    ``power``: of watts.
    """

    fitted: float
    interpolated: float
    roofline: float
    own: float
    first: float
    power: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """``engines``: the four constants of each, by name. ``…_gain``: of power."""

    engines: Mapping[str, Mapping[str, float]]
    compute_gain: float
    memory_gain: float
    other_gain: float
    errors: Errors


@cache
def fitted() -> Fitted:
    """Read the file, once."""
    import yaml

    data = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    engines = {name: _floats(values) for name, values in data["engines"].items()}
    return Fitted(engines, **_floats(data["power"]), errors=Errors(**_floats(data["errors"])))


def _floats(values: Mapping[str, object]) -> dict[str, float]:
    return {name: float(str(value)) for name, value in values.items()}


def interval_of(sigma: float, confidence: float = KNOWN_FOR) -> float:
    """The relative half-width (above; below it is its inverse) that holds ``confidence`` of normal errors of a logarithm."""
    return math.exp(sigma * NormalDist().inv_cdf((1 + confidence) / 2)) - 1


def sigma_of(interval: float, confidence: float = KNOWN_FOR) -> float:
    """The inverse of ``interval_of``."""
    return math.log1p(interval) / NormalDist().inv_cdf((1 + confidence) / 2)
