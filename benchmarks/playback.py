"""Tapes played back in virtual time, as the sessions and the watch that the product's own code measures with."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Self

from autotune.core.samples import Requests, Samples, Tensors
from autotune.testing.virtual_clock import VirtualClock
from benchmarks.tape import Tape

__all__ = ["PhasePlayback", "Playback"]


class _Played:
    """A session of a playback: what is common to all."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def outputs(self, inputs: Tensors) -> Tensors:
        """Give the inputs back: nothing is checked here."""
        return inputs

    def pause(self) -> None:
        """Do nothing."""

    def resume(self) -> None:
        """Do nothing."""


class Playback:
    """Sessions that ran side by side (or one alone), by name, from round ``start`` on; it is the watch as well.

    A round that the watch looks at is the next recorded one, whatever its size was to be. Any other run is warm-up:
    it takes the first requests of a round. A round is over when each session has had it: what was recorded at one time is
    played at one time. Past the end it begins again.
    """

    def __init__(self, tapes: Mapping[str, Tape], clock: VirtualClock, start: int = 0) -> None:
        self._tapes, self._clock, self._row = tapes, clock, start
        self._watched = False
        self._had: set[str] = set()
        self._reasons: tuple[str, ...] = ()

    def session(self, name: str) -> _PlayedSide:
        """The session of that name."""
        return _PlayedSide(self, name)

    def start(self) -> None:
        """A round begins that counts."""
        self._watched = True

    def stop(self, samples: Samples) -> tuple[str, ...]:  # noqa: ARG002
        """It has ended: return what disturbed it when it was recorded."""
        return self._reasons

    def run(self, name: str, count: int) -> Samples:
        """The next round of one session, or a warm-up of ``count`` requests."""
        watched, self._watched = self._watched, False
        tape, row = self._tapes[name], self._row % len(self._tapes[name])
        samples = tape.samples(row, None if watched else count)
        self._clock.sleep(samples.wall_s)
        if watched:
            self._reasons = tape.reasons[row]
            self._had.add(name)
        if self._had == set(self._tapes) or not (watched or self._had):
            self._row += 1
            self._had.clear()
        return samples


class _PlayedSide(_Played):
    def __init__(self, playback: Playback, name: str) -> None:
        self._playback, self._name = playback, name

    def run(self, requests: Requests, count: int) -> Samples:  # noqa: ARG002
        """The next round, or a warm-up."""
        return self._playback.run(self._name, count)


class PhasePlayback(_Played):
    """One session that was measured in several phases, each a tape by its requests' key.

    Rounds that the watch looks at take the next requests, as many as are asked for; past the end they begin again. Warm-ups
    use nothing up.
    """

    def __init__(self, tapes: Mapping[str, Tape], clock: VirtualClock) -> None:
        self._tapes, self._clock = tapes, clock
        self._next = dict.fromkeys(tapes, 0)
        self._watched = False

    def start(self) -> None:
        """A round begins that counts."""
        self._watched = True

    def stop(self, samples: Samples) -> tuple[str, ...]:  # noqa: ARG002
        """It has ended; disturbed rounds were not kept."""
        return ()

    def run(self, requests: Requests, count: int) -> Samples:
        """The phase's next requests, or a warm-up."""
        watched, self._watched = self._watched, False
        samples = self._tapes[requests.key].stream(self._next[requests.key], count)
        self._next[requests.key] += count if watched else 0
        self._clock.sleep(samples.wall_s)
        return samples
