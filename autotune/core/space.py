"""What may be tried: parameters with their legal values, and what was left out, with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from autotune.core.candidate import Candidate, Scalar
from autotune.core.frozen import Frozen

__all__ = ["Affects", "Offer", "Omission", "Parameter", "SearchSpace", "Share"]

Affects = Literal["build", "load", "run"]


class Share(Frozen):
    """A bound on what is shared out: a parameter's value times that of the earlier one named ``by`` is at most ``total``."""

    by: str
    total: int


class Parameter(Frozen):
    """One dimension: either ``choices``, or a range ``low``..``high`` (both included, integers when written as integers).

    ``step`` None means every value of the range; ``log`` samples on a logarithmic scale.
    ``requires`` names other parameters and the values under which this one exists at all (every name must match).
    ``share`` bounds its choices, all numbers, by an earlier parameter; None: nothing does.
    ``calibrated`` lists the choices that are built from the user's data: without data they are no choice.
    ``affects`` says what a change costs: a new build, a new load, or only another run.
    ``doc`` tells a person, in one line, what it does.
    """

    name: str
    choices: tuple[Scalar, ...] = ()
    low: int | float | None = None
    high: int | float | None = None
    step: int | float | None = None
    log: bool = False
    requires: dict[str, tuple[Scalar, ...]] = Field(default_factory=dict)
    share: Share | None = Field(default=None, exclude_if=lambda share: share is None)
    calibrated: tuple[Scalar, ...] = ()
    affects: Affects = "load"
    doc: str = ""

    @model_validator(mode="after")
    def _either_choices_or_range(self) -> Self:
        if bool(self.choices) == (self.low is not None and self.high is not None):
            raise ValueError(f"parameter {self.name!r} needs either choices or low and high")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"parameter {self.name!r}: {self.low=} is above {self.high=}")
        return self

    @property
    def integer(self) -> bool:
        """Whether a range holds integers only: its ends are written as integers, and so is its step if it has one."""
        return all(end is None or isinstance(end, int) for end in (self.low, self.high, self.step))

    def active(self, chosen: Mapping[str, Scalar]) -> bool:
        """Whether the parameter exists beside the values chosen so far."""
        required = all(name in chosen and chosen[name] in allowed for name, allowed in self.requires.items())
        return required and (self.share is None or any(self.fits(value, chosen) for value in self.choices))

    def fits(self, value: Scalar, chosen: Mapping[str, Scalar]) -> bool:
        """Whether ``value`` is legal beside the values chosen so far."""
        if self.share is None or self.share.by not in chosen:
            return self.holds(value)
        return self.holds(value) and float(value) * float(chosen[self.share.by]) <= self.share.total

    def holds(self, value: Scalar) -> bool:
        """Whether ``value`` is legal beside some values of the others."""
        if self.choices:
            return any(type(value) is type(choice) and value == choice for choice in self.choices)
        if isinstance(value, str | bool) or self.low is None or self.high is None:
            return False
        on_step = self.step is None or ((value - self.low) / self.step).is_integer()
        return self.low <= value <= self.high and on_step and (not self.integer or float(value).is_integer())

    def values(self, chosen: Mapping[str, Scalar] | None = None) -> tuple[Scalar, ...] | None:
        """All legal values, those that fit beside ``chosen`` if that is given; None when they are not countable."""
        if self.choices:
            return tuple(value for value in self.choices if chosen is None or self.fits(value, chosen))
        if self.low is None or self.high is None or (self.step is None and not self.integer):
            return None
        step = self.step or 1.0
        count = int((self.high - self.low) / step + 1e-9) + 1
        numbers = [self.low + index * step for index in range(count)]
        return tuple(int(number) if self.integer else number for number in numbers)


class Omission(Frozen):
    """A parameter, or some of its values, that a space leaves out, and why. ``values`` empty: the whole parameter."""

    parameter: str
    values: tuple[Scalar, ...] = ()
    reason: str


class Offer(Frozen):
    """What one backend can do with one model on one device: legal values, and each omission with its reason.

    ``refusal`` is not None when the backend cannot run the model there at all, and says why.
    ``usual`` are the values that its runtime would take there if nobody said otherwise; of other parameters, the first.
    """

    backend: str
    device: str
    parameters: tuple[Parameter, ...] = ()
    omissions: tuple[Omission, ...] = ()
    refusal: str | None = None
    usual: dict[str, Scalar] = Field(default_factory=dict)

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name, or None when it is not offered."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


class SearchSpace(Frozen):
    """The space of one search. ``parameters`` come in the order in which they are chosen; ``runtime`` is the first.

    ``baseline`` is the model as it is, under its runtime's defaults; it is always tried first.
    ``reference`` builds the unoptimised model, against whose outputs every candidate is checked.
    ``experts`` are candidates that an engineer would try first. ``screened`` come before them: (device, candidate) that an
    estimate of the whole space proposes.
    """

    name: str
    parameters: tuple[Parameter, ...]
    omissions: tuple[Omission, ...] = ()
    baseline: Candidate
    reference: Candidate
    experts: tuple[Candidate, ...] = ()
    screened: tuple[tuple[str, Candidate], ...] = Field(default=(), exclude_if=lambda places: not places)

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name, or None."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    def fault(self, candidate: Candidate) -> str | None:
        """Say what makes ``candidate`` no point of this space; None when it is one."""
        for parameter in self.parameters:
            if not parameter.active(candidate):
                if parameter.name in candidate:
                    return f"{parameter.name} does not apply to {candidate}"
            elif parameter.name not in candidate:
                return f"{parameter.name} is missing"
            elif not parameter.fits(candidate[parameter.name], candidate):
                return f"{parameter.name}={candidate[parameter.name]!r} is not in the space{_beyond(parameter)}"
        unknown = set(candidate) - {parameter.name for parameter in self.parameters}
        return f"unknown parameter {min(unknown)!r}" if unknown else None

    def size(self, at_most: int = 1_000_000) -> int | None:
        """Count the candidates; None when a parameter is continuous or there are more than ``at_most``."""
        count = 0
        for _ in self._walk({}, 0):
            count += 1
            if count > at_most:
                return None
        return count or None

    def candidates(self) -> list[Candidate]:
        """Every candidate, in a fixed order. Raises ``ValueError`` when a parameter is continuous."""
        if any(parameter.values() is None for parameter in self.parameters):
            raise ValueError("a continuous space cannot be enumerated")
        return [Candidate(chosen) for chosen in self._walk({}, 0)]

    def _walk(self, chosen: dict[str, Scalar], index: int):  # type: ignore[no-untyped-def]
        if index == len(self.parameters):
            yield dict(chosen)
            return
        parameter = self.parameters[index]
        if not parameter.active(chosen):
            yield from self._walk(chosen, index + 1)
            return
        for value in parameter.values(chosen) or ():
            yield from self._walk({**chosen, parameter.name: value}, index + 1)


def _beyond(parameter: Parameter) -> str:
    share = parameter.share
    return "" if share is None else f" (times {share.by} it is at most {share.total})"
