"""What a knob returns, and how the offers of several runtimes become one parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.core.candidate import Scalar
from autotune.core.space import Offer, Omission, Parameter

__all__ = ["Choice", "join", "take"]


@dataclass(frozen=True)
class Choice:
    """The part of a space that one knob governs."""

    parameters: tuple[Parameter, ...] = ()
    omissions: tuple[Omission, ...] = ()


def take(names: Sequence[str], offers: Sequence[Offer]) -> Choice:
    """Take these parameters from the offers, in this order, with the offers' own omissions."""
    parameters, omissions = list[Parameter](), list[Omission]()
    for name in names:
        omissions += [omission for offer in offers for omission in offer.omissions if omission.parameter == name]
        merged, lost = _merge(name, offers)
        parameters += [merged] if merged else []
        omissions += lost
    return Choice(tuple(parameters), tuple(dict.fromkeys(omissions)))


def _merge(name: str, offers: Sequence[Offer]) -> tuple[Parameter | None, list[Omission]]:
    """Keep the values that every runtime with this parameter allows: then each candidate of the space is legal."""
    found = {offer.backend: parameter for offer in offers if (parameter := offer.parameter(name))}
    if not found:
        return None, []
    first, *others = [parameter for offer in offers if (parameter := offer.parameter(name))]
    requires = dict(first.requires)
    if set(found) != {offer.backend for offer in offers}:
        requires = {"runtime": tuple(found), **requires}
    if not first.choices or all(other.choices == first.choices for other in others):
        return first.model_copy(update={"requires": requires}), []
    shared = tuple(value for value in first.choices if all(other.holds(value) for other in others))
    return _narrowed(first, shared, requires, found)


def _narrowed(
    first: Parameter, shared: tuple[Scalar, ...], requires: dict[str, tuple[Scalar, ...]], found: dict[str, Parameter]
) -> tuple[Parameter | None, list[Omission]]:
    every = dict.fromkeys(value for parameter in found.values() for value in parameter.choices)
    lost = tuple(value for value in every if value not in shared)
    omitted = (
        [Omission(parameter=first.name, values=lost, reason=f"not offered alike by {' and '.join(found)}")]
        if lost
        else []
    )
    if not shared:
        return None, omitted
    return first.model_copy(update={"choices": shared, "requires": requires}), omitted


def join(names: Sequence[str], offers: Sequence[Offer]) -> Choice:
    """Take every value that some device offers: where another lacks it, the trial fails there with the reason.

    For simulated devices, on which a trial that fails costs next to nothing, and devices differ in what they can do.
    """
    parameters, omissions = list[Parameter](), list[Omission]()
    for name in names:
        omissions += [omission for offer in offers for omission in offer.omissions if omission.parameter == name]
        found = [parameter for offer in offers if (parameter := offer.parameter(name))]
        if found:
            values = dict.fromkeys(value for parameter in found for value in parameter.choices)
            parameters.append(found[0].model_copy(update={"choices": _ordered(tuple(values))}))
    return Choice(tuple(parameters), tuple(dict.fromkeys(omissions)))


def _ordered(values: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """Numbers rise; anything else stays in the order in which it was offered."""
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    return tuple(sorted(numbers)) if len(numbers) == len(values) else values
