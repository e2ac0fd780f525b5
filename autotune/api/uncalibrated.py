"""Without the user's data, what is calibrated on them is left out: generated inputs do not tell real ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autotune.core.candidate import Scalar
from autotune.core.dataset import DataFacts
from autotune.core.space import Offer, Omission, Parameter

__all__ = ["legal_with", "without_calibrated"]

_REASON = "it is calibrated on data, and there are none: give them with --data"


def legal_with(data: DataFacts, offers: Sequence[Offer]) -> list[Offer]:
    """The offers as far as ``data`` allow: all of them when they are the user's."""
    return list(offers) if data.path is not None else [without_calibrated(offer) for offer in offers]


def without_calibrated(offer: Offer) -> Offer:
    """The offer without its calibrated choices, and without the parameters that only those leave to choose."""
    kept: dict[str, Parameter] = {}
    omissions = list(offer.omissions)
    for parameter in offer.parameters:
        if parameter.calibrated:
            omissions.append(Omission(parameter=parameter.name, values=parameter.calibrated, reason=_REASON))
        rest = _rest(parameter, kept)
        if rest is not None:
            kept[parameter.name] = rest
        elif not parameter.calibrated:
            omissions.append(Omission(parameter=parameter.name, reason=_REASON))
    return offer.model_copy(update={"parameters": tuple(kept.values()), "omissions": tuple(omissions)})


def _rest(parameter: Parameter, earlier: Mapping[str, Parameter]) -> Parameter | None:
    """What is left of a parameter beside what is left of the earlier ones; None: nothing."""
    choices = tuple(value for value in parameter.choices if value not in parameter.calibrated)
    requires = {name: _possible(name, values, earlier) for name, values in parameter.requires.items()}
    if not all(requires.values()) or (parameter.choices and not choices):
        return None
    return parameter.model_copy(update={"choices": choices, "requires": requires, "calibrated": ()})


def _possible(name: str, values: tuple[Scalar, ...], earlier: Mapping[str, Parameter]) -> tuple[Scalar, ...]:
    """Those of the values that the parameter of that name may still have; all, when it is not this offer's."""
    if name == "runtime":
        return values
    known = earlier.get(name)
    return tuple(value for value in values if known is not None and known.holds(value))
