"""Plays one block to one attempt of a gate: warm-ups use nothing up, so that a block lasts as long as an attempt may."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from autotune.core.samples import Requests, Samples, Tensors
from autotune.testing.virtual_clock import VirtualClock
from benchmarks.tape import Tape

__all__ = ["BlockPlayback", "idle_s"]


class BlockPlayback:
    """Both sessions of a block, by name, and the watch. A pair is over when each has had its round.

    What passed between rounds when they were recorded (stopping one process, waking and warming the other) passes here too, the
    warm-ups that are played being part of it: an attempt gets no more pairs than it would have had.
    ``outlasted``: the block was too short, and began again.
    """

    def __init__(self, tapes: Mapping[str, Tape], clock: VirtualClock) -> None:
        self._tapes, self._clock, self._row = tapes, clock, 0
        self._idle_s, self._ended_s = idle_s(tapes), clock.now_s()
        self._watched = False
        self._had: set[str] = set()
        self._reasons: tuple[str, ...] = ()

    @property
    def outlasted(self) -> bool:
        """Whether more pairs were asked for than the block has."""
        return self._row > len(next(iter(self._tapes.values())))

    def session(self, name: str) -> _Side:
        """The session of that name."""
        return _Side(self, name)

    def start(self) -> None:
        """A round begins that counts."""
        self._watched = True

    def stop(self, samples: Samples) -> tuple[str, ...]:  # noqa: ARG002
        """It has ended: return what disturbed it when it was recorded."""
        return self._reasons

    def run(self, name: str, count: int) -> Samples:
        """The next round whole, or the first ``count`` requests of it as a warm-up."""
        watched, self._watched = self._watched, False
        samples = self._tapes[name].samples(self._row, None if watched else count)
        if watched:
            idle = float(self._idle_s[self._row % len(self._idle_s)])
            self._clock.sleep(max(0.0, self._ended_s + idle - self._clock.now_s()))
        self._clock.sleep(samples.wall_s)
        if watched:
            self._ended_s = self._clock.now_s()
            self._reasons = self._tapes[name].reasons[self._row % len(self._tapes[name])]
            self._had.add(name)
        if self._had == set(self._tapes):
            self._row += 1
            self._had.clear()
        return samples


def idle_s(tapes: Mapping[str, Tape]) -> NDArray[np.float64]:
    """Seconds before a round, between it and the one before, of whichever side: of each pair the mean of its two, ``[pairs]``."""
    sides = list(tapes.values())
    walls = [np.asarray([round_s.sum() for round_s in side.rounds]) for side in sides]
    began, wall = (np.concatenate(parts) for parts in ([side.began_s for side in sides], walls))
    pair = np.concatenate([np.arange(len(side)) for side in sides])
    order = np.argsort(began)
    gaps = np.zeros(len(began))
    gaps[order[1:]] = np.maximum(0.0, began[order[1:]] - (began + wall)[order[:-1]])
    return np.bincount(pair, weights=gaps) / len(sides)


class _Side:
    def __init__(self, playback: BlockPlayback, name: str) -> None:
        self._playback, self._name = playback, name

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def outputs(self, inputs: Tensors) -> Tensors:
        """Give the inputs back: nothing is checked here."""
        return inputs

    def run(self, requests: Requests, count: int) -> Samples:  # noqa: ARG002
        """The next round, or a warm-up."""
        return self._playback.run(self._name, count)

    def pause(self) -> None:
        """Do nothing."""

    def resume(self) -> None:
        """Do nothing."""
