"""Candidates that were not tried yet: all of them in a shuffled order, one near another, or one at random."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from autotune.core.candidate import Candidate, Scalar
from autotune.core.space import Parameter, SearchSpace
from autotune.searching.ledger import Ledger

__all__ = ["Unseen", "draw_candidate"]

_COUNTABLE = 20_000
_TRIES = 500
_PAIRS = 50
_MANY = 16


class Unseen:
    """``devices``: names of those that every candidate may run on."""

    def __init__(self, space: SearchSpace, devices: Sequence[str], ledger: Ledger, seed: int) -> None:
        self._space = space
        self._devices = tuple(devices)
        self._ledger = ledger
        self._seed = seed
        self._order: list[tuple[str, Candidate]] | None = None
        self._countable = space.size(at_most=_COUNTABLE) is not None

    def count(self, at_most: int) -> int | None:
        """How many are left; None when there are more than ``at_most``, or too many to count."""
        if not self._countable:
            return None
        left = 0
        for _ in self._left():
            left += 1
            if left > at_most:
                return None
        return left

    def next(self) -> tuple[str, Candidate] | None:
        """The first one left, in an order shuffled by the seed; None when none is left, or they cannot be counted."""
        return next(self._left(), None) if self._countable else None

    def at_random(self, seed: str) -> tuple[str, Candidate] | None:
        """One drawn by ``seed``; None when none is left, or none was found in 500 draws of an uncountable space."""
        if self._countable:
            return self.next()
        draw = random.Random(seed)
        for _ in range(_TRIES):
            place = draw.choice(self._devices), draw_candidate(self._space, draw)
            if not self._ledger.knows(*place):
                return place
        return None

    def near(self, device: str, candidate: Candidate, seed: str) -> tuple[str, Candidate] | None:
        """One that differs from ``candidate`` in one parameter or two; None when none is left nearby."""
        draw = random.Random(seed)
        for neighbour in _neighbours(self._space, candidate, draw):
            if not self._ledger.knows(device, neighbour):
                return device, neighbour
        return None

    def _left(self) -> Iterator[tuple[str, Candidate]]:
        if self._order is None:
            self._order = [(device, candidate) for device in self._devices for candidate in self._space.candidates()]
            random.Random(f"order {self._seed}").shuffle(self._order)
        # Seen ones are dropped for good as they are met at the front of the list.
        while self._order and self._ledger.knows(*self._order[0]):
            self._order.pop(0)
        return (place for place in self._order if not self._ledger.knows(*place))


def _neighbours(space: SearchSpace, candidate: Candidate, draw: random.Random) -> Iterator[Candidate]:
    """Candidates that differ in one parameter (and in what depends on it), in random order; then, 50 times, in two."""
    changes = [(name, value) for name in candidate for value in _others(space, candidate, name, draw)]
    draw.shuffle(changes)
    for name, value in changes:
        yield _rebuilt(space, candidate, {name: value}, draw)
    for _ in range(_PAIRS if len(changes) > 1 else 0):
        yield _rebuilt(space, candidate, dict(draw.sample(changes, 2)), draw)


def _others(space: SearchSpace, candidate: Candidate, name: str, draw: random.Random) -> Sequence[Scalar]:
    parameter = space.parameter(name)
    assert parameter is not None
    values = parameter.values()
    if values is None or len(values) > _MANY:
        values = tuple(_draw_value(parameter, draw, {}) for _ in range(_MANY))
    return [value for value in values if value is not candidate[name]]


def _rebuilt(space: SearchSpace, candidate: Candidate, changes: dict[str, Scalar], draw: random.Random) -> Candidate:
    """``candidate`` with ``changes``; what is conditional leaves, or is drawn, as those require, and so is a share too large."""
    chosen: dict[str, Scalar] = {}
    for parameter in space.parameters:
        if parameter.active(chosen):
            old = changes.get(parameter.name, candidate.get(parameter.name))
            kept = old is not None and parameter.fits(old, chosen)
            chosen[parameter.name] = old if old is not None and kept else _draw_value(parameter, draw, chosen)
    return Candidate(chosen)


def draw_candidate(space: SearchSpace, draw: random.Random) -> Candidate:
    """One candidate, each parameter drawn uniformly from its legal values."""
    return _rebuilt(space, Candidate(), {}, draw)


def _draw_value(parameter: Parameter, draw: random.Random, chosen: Mapping[str, Scalar]) -> Scalar:
    values = parameter.values(chosen)
    if values is not None:
        return draw.choice(values)
    assert parameter.low is not None
    assert parameter.high is not None
    return draw.uniform(parameter.low, parameter.high)
