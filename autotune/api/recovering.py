"""``--recover``: pruned models are trained again, beside those that are not."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.errors import UserError
from autotune.core.recovery import LONGEST_S, RECOVERY
from autotune.core.space import Offer, Omission, Parameter
from autotune.core.units import parse_budget

__all__ = ["recovery_s", "refuse_no_recovery", "with_recovery"]

_UNASKED = "pruned models are trained again only when that is asked for: --recover 5m"
_SHARE = 0.25


def recovery_s(asked: str | None, budget_s: float | None) -> float:
    """Seconds that were asked for; 0: nothing was. Raises ``UserError`` when they are too large a share of the budget."""
    if asked is None:
        return 0.0
    seconds = parse_budget(asked, "--recover")
    if budget_s is not None and seconds > _SHARE * budget_s:
        raise UserError(
            f"--recover {asked}: one model trained so long would take more than a quarter of the budget",
            "give less, or a larger --budget",
        )
    return min(seconds, LONGEST_S)


def with_recovery(seconds: float, offers: Sequence[Offer]) -> list[Offer]:
    """The offers with 0 and ``seconds`` to choose from, or (0) without that parameter."""
    return [_with(seconds, offer) for offer in offers]


def refuse_no_recovery(seconds: float, offers: Sequence[Offer]) -> None:
    """Raise ``UserError`` when it was asked for and no backend can do it, with the first reason."""
    if not seconds or any(offer.parameter(RECOVERY) is not None for offer in offers):
        return
    omitted = [one.reason for offer in offers for one in offer.omissions if one.parameter == RECOVERY]
    raise UserError(f"--recover: {omitted[0] if omitted else 'no backend trains this model'}", "or leave --recover out")


def _with(seconds: float, offer: Offer) -> Offer:
    if offer.parameter(RECOVERY) is None:
        return offer
    if not seconds:
        left = tuple(parameter for parameter in offer.parameters if parameter.name != RECOVERY)
        omission = Omission(parameter=RECOVERY, reason=_UNASKED)
        return offer.model_copy(update={"parameters": left, "omissions": (*offer.omissions, omission)})
    return offer.model_copy(update={"parameters": tuple(_chosen(one, seconds) for one in offer.parameters)})


def _chosen(parameter: Parameter, seconds: float) -> Parameter:
    """0 and ``seconds``, which only the user's data can give."""
    if parameter.name != RECOVERY:
        return parameter
    choices = (0.0, seconds)
    return parameter.model_copy(update={"choices": choices, "calibrated": choices, "low": None, "high": None})
