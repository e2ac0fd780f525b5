"""What a device's residuals say of a candidate: a mean and a narrower interval, shrunk to what is known without them.

Errors of one device are normal in the logarithm and have three parts: of the device, the same for all that runs on it; of a
model under an engine there, the same for all its settings; and of a setting, its own. Given residuals, the error of another
setting is normal, too: simple kriging (the same algebra as a Gaussian process of these three covariances; Rasmussen and Williams,
"Gaussian Processes for Machine Learning", 2006, equation 2.19). One point is believed in part, many points are believed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from autotune_backends.simulated.devices import Residual
from autotune_backends.simulated.fitted import fitted

__all__ = ["Belief", "Correction", "correction_of"]


@dataclass(frozen=True, slots=True)
class Belief:
    """Of a logarithm of measured over predicted: normal. ``common``: the share of its variance that other settings share."""

    mean: float
    sigma: float
    common: float

    @property
    def factor(self) -> float:
        """What a prediction is multiplied by."""
        return math.exp(self.mean)


@dataclass(frozen=True, slots=True)
class Correction:
    """Of steps, of first tokens beyond their steps', of power; ``count`` points were looked at."""

    step: Belief
    first: Belief
    power: Belief
    count: int


def correction_of(residuals: Sequence[Residual], served: tuple[str, str], sigma: float) -> Correction:
    """For a candidate whose steps are known within ``sigma`` before anything was measured."""
    errors = fitted().errors
    common = 1 - (errors.own / errors.fitted) ** 2 if errors.own < errors.fitted else 0.0
    return Correction(
        step=_belief(residuals, served, lambda one: one.step, sigma, errors.fitted, common),
        first=_belief(residuals, served, lambda one: one.first, errors.first, errors.first, common),
        power=_belief(residuals, served, lambda one: one.power, errors.power, errors.power, common),
        count=len(residuals),
    )


def _belief(
    residuals: Sequence[Residual],
    served: tuple[str, str],
    of: Callable[[Residual], float | None],
    sigma: float,
    usual: float,
    common: float,
) -> Belief:
    """``usual``: sigma where the device's kernels are known, of whose variance ``common`` is the model's part."""
    own, model = usual**2 * (1 - common), usual**2 * common
    beyond = math.sqrt(max(0.0, sigma**2 - usual**2))  # of the device
    prior = own + model + beyond**2
    told = [(one, value) for one in residuals if (value := of(one)) is not None]
    if not told:
        return Belief(0.0, math.sqrt(prior), 1 - own / prior)
    devices = np.array([math.sqrt(max(0.0, one.sigma**2 - usual**2)) if beyond else 0.0 for one, _ in told])
    alike = np.array([[one.served == other.served for other, _ in told] for one, _ in told])
    among = np.outer(devices, devices) + model * alike + own * np.eye(len(told))
    here = beyond * devices + model * np.array([one.served == served for one, _ in told])
    weights = np.linalg.solve(among, here)
    variance = max(own, prior - float(weights @ here))
    return Belief(float(weights @ np.array([value for _, value in told])), math.sqrt(variance), 1 - own / variance)
