"""How sure a choice among simulated candidates is, and what one measurement would do for it: in draws of their errors.

Each candidate's step time is off by an unknown factor, normal in the logarithm. Candidates of one device share a part of that
error, the ``common`` share of its variance; devices are independent. A metric follows the error along its interval: the value,
and its ends, are what it is at an error of 0 and at the ends of the confidence. Measuring a candidate tells its own error, and
by what they share the expected error of its neighbours, whose doubt shrinks (the value of sample information; Raiffa and
Schlaifer, "Applied Statistical Decision Theory", 1961).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Axis", "Contender", "chosen", "wrong_after", "wrong_now"]

MATERIAL = 0.05  # a choice is wrong when another costs less by more than this share
DRAWS = 2000
_BROKEN = (
    20.0  # what a broken limit adds to the logarithm of a price: more than prices differ; and by how much it is broken
)

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Axis:
    """A metric's logarithm with an error of 0, and by how much it rises with the error's standard deviations, above and below 0.

    ``bound``: the logarithm of a limit that it must not exceed; None: it is the price. ``careful``: who chooses looks at its
    pessimistic end, as at a limit's.
    """

    value: float
    above: float
    below: float
    bound: float | None = None
    careful: bool = False

    def at(self, error: Array) -> Array:
        """Its logarithm at errors in standard deviations."""
        return self.value + np.where(error > 0, self.above, self.below) * error


@dataclass(frozen=True, slots=True)
class Contender:
    """A trial that may be the best: its device, the share of its error that the device's others have, its price and limits."""

    trial: str
    device: str
    common: float
    axes: tuple[Axis, ...]


def wrong_now(contenders: Sequence[Contender], deviations: float, seed: int = 0) -> tuple[str, float]:
    """The trial chosen now, and the probability that another is really better by a material margin, or that it breaks a limit.

    ``deviations``: how pessimistic a limit is judged, in standard deviations.
    """
    errors = _drawn(contenders, seed)
    picked = chosen(contenders, np.zeros((1, len(contenders))), deviations * np.ones(len(contenders)))
    wrong = _wrong(contenders, errors, np.broadcast_to(picked, len(errors)))
    return contenders[int(picked[0])].trial, wrong


def wrong_after(contenders: Sequence[Contender], measured: int, deviations: float, seed: int = 0) -> float:
    """The probability of a wrong choice when that contender will have been measured, over what it may show."""
    errors = _drawn(contenders, seed)
    shared = _shared(contenders)[measured]
    expected = errors[:, [measured]] * shared[None, :]
    left = deviations * np.sqrt(np.maximum(0.0, 1 - shared**2))
    return _wrong(contenders, errors, chosen(contenders, expected, left))


def chosen(contenders: Sequence[Contender], expected: Array, margin: Array) -> NDArray[np.intp]:
    """The cheapest by expectation of those that hold their limits even ``margin`` later, for each row of expected errors."""
    scores = np.stack(
        [_score(one.axes, expected[:, index], margin[index]) for index, one in enumerate(contenders)], axis=1
    )
    picked: NDArray[np.intp] = np.argmin(scores, axis=1)
    return picked


def _wrong(contenders: Sequence[Contender], errors: Array, picked: NDArray[np.intp]) -> float:
    true = np.stack([_score(one.axes, errors[:, index], 0.0) for index, one in enumerate(contenders)], axis=1)
    lost = true[np.arange(len(true)), picked] - true.min(axis=1)
    return float(np.mean(lost > math.log1p(MATERIAL)))


def _score(axes: Sequence[Axis], error: Array, margin: float) -> Array:
    """The logarithm of the price, and for each broken limit much more."""
    score = np.zeros(len(error))
    for axis in axes:
        judged = axis.at(error + margin) if axis.careful else axis.at(error)
        if axis.bound is None:
            score = score + judged
        else:
            beyond = judged - axis.bound
            score = score + np.where(beyond > 0, _BROKEN + beyond, 0.0)
    return score


def _shared(contenders: Sequence[Contender]) -> Array:
    """Correlations of errors."""
    roots = np.sqrt([one.common for one in contenders])
    alike = np.array([[one.device == other.device for other in contenders] for one in contenders])
    found: Array = np.where(alike, np.outer(roots, roots), 0.0)
    np.fill_diagonal(found, 1.0)
    return found


def _drawn(contenders: Sequence[Contender], seed: int) -> Array:
    """Errors in standard deviations: a row a draw."""
    generator = np.random.default_rng([seed, len(contenders)])
    devices = list(dict.fromkeys(one.device for one in contenders))
    common = generator.standard_normal((DRAWS, len(devices)))
    own = generator.standard_normal((DRAWS, len(contenders)))
    share = np.array([one.common for one in contenders])
    of = [devices.index(one.device) for one in contenders]
    drawn: Array = np.sqrt(share) * common[:, of] + np.sqrt(1 - share) * own
    return drawn
