"""In which order hidden channels are taken out, and what each costs once the others have made up for it.

Optimal Brain Surgeon (Hassibi and Stork, 1993) for whole channels, as in ZipLM (Kurtić et al., 2023): of the squared error that
removing a channel adds to the outputs of the products that use it, the remaining weights being adjusted by least squares, the
least one goes next. Two channels that can stand for each other are never both taken for unimportant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RIDGE", "Elimination", "Use", "eliminated", "made_up"]

RIDGE = 1e-4
"""Of the mean square activation: keeps the least squares solvable where channels are copies of each other."""

_ROUNDS = ((512, 128), (1024, 32))
"""Channels up to → rounds in which they go, where there are more of them than that; beyond, one for each width. A round copies
two matrices of channels × channels: 128 of them took a minute at 3,072 channels.
"""

_FEWEST_ROUNDS = 16

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Use:
    """One product that uses the channels. Both ``[channel, channel]``: their activations' products with each other, and those of
    the weights that use them. (Of large layers the weights themselves would be copied a hundred times over.)
    """

    gram: Array
    weights: Array

    @classmethod
    def of(cls, gram: Array, weights: NDArray[Any]) -> Use:
        """``weights`` ``[channel, everything else]``."""
        return cls(gram, np.asarray(weights @ weights.T, np.float64))


@dataclass(frozen=True)
class Elimination:
    """``order``: the channels, first those that go first. ``errors[n]``: the squared error with ``n`` of them gone, relative to
    the outputs, summed over uses; NaN for a number at which no round ended.
    """

    order: NDArray[np.intp]
    errors: Array

    def kept(self, count: int) -> NDArray[np.intp]:
        """The ``count`` channels that matter most, in the graph's order."""
        return np.sort(self.order[len(self.order) - count :])


def eliminated(uses: Sequence[Use], counts: Sequence[int]) -> Elimination:
    """Take channels out until the smallest of ``counts`` is left; a round ends at each of ``counts``."""
    channels = len(uses[0].gram)
    state = [_State.of(use) for use in uses]
    alive, gone = np.arange(channels), list[int]()
    errors = np.full(channels + 1, np.nan)
    errors[0] = error = 0.0
    for target in sorted(counts, reverse=True):
        while len(alive) > target:
            scores = np.sum([one.scores() for one in state], axis=0)
            count = min(len(alive) - target, _at_once(channels))
            out = np.argsort(scores, kind="stable")[:count]
            error += sum(one.remove(out) for one in state)
            gone += [int(channel) for channel in alive[out]]
            alive = np.delete(alive, out)
            errors[len(gone)] = error
    return Elimination(np.array([*gone, *alive], np.intp), errors)


def _at_once(channels: int) -> int:
    """How many channels go in one round."""
    rounds = next((rounds for most, rounds in _ROUNDS if channels <= most), _FEWEST_ROUNDS)
    return max(1, channels // rounds)


def made_up(weights: NDArray[Any], gram: Array, kept: NDArray[np.intp]) -> NDArray[Any]:
    """The kept channels' weights ``[channel, everything else]``, and those of the removed ones in the nearest combination."""
    removed = np.setdiff1d(np.arange(len(gram)), kept)
    inner = gram[np.ix_(kept, kept)]
    mixture = np.linalg.solve(inner + _ridge(inner), gram[np.ix_(kept, removed)])
    made: NDArray[Any] = weights[kept] + mixture.astype(weights.dtype) @ weights[removed]
    return made


@dataclass
class _State:
    """Of the channels that are left: the inverse of their gram matrix, and that of weights that have made up for the others."""

    inverse: Array
    weights: Array
    whole: float

    @classmethod
    def of(cls, use: Use) -> _State:
        whole = float(np.sum(use.gram * use.weights))
        inverse: Array = np.linalg.inv(use.gram + _ridge(use.gram)).astype(np.float64)
        return cls(inverse, use.weights.copy(), whole or 1.0)

    def scores(self) -> Array:
        """The relative error that each channel's removal would add."""
        found: Array = np.diag(self.weights) / np.diag(self.inverse) / self.whole
        return found

    def remove(self, out: NDArray[np.intp]) -> float:
        """Take these positions out; return the relative error that it adds."""
        left = np.delete(np.arange(len(self.inverse)), out)
        corner, edge = self.inverse[np.ix_(out, out)], self.inverse[np.ix_(out, left)]
        lost, beside = self.weights[np.ix_(out, out)], self.weights[np.ix_(out, left)]
        share = np.linalg.solve(corner, edge)
        added = float(np.trace(np.linalg.solve(corner, lost))) / self.whole
        self.inverse = self.inverse[np.ix_(left, left)] - edge.T @ share
        crossed = share.T @ beside
        self.weights = self.weights[np.ix_(left, left)] - crossed - crossed.T + share.T @ lost @ share
        return added


def _ridge(gram: Array) -> Array:
    scale = RIDGE * (np.trace(gram) / len(gram) or 1.0)
    return np.asarray(scale * np.eye(len(gram)))
