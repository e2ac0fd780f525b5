"""Which backend builds and runs the candidate: the first parameter of every space."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.errors import UserError
from autotune.core.space import Offer, Omission, Parameter
from autotune_search_spaces.knobs.choice import Choice

__all__ = ["runtime", "willing"]


def willing(offers: Sequence[Offer]) -> list[Offer]:
    """Return the offers of backends that can run the model. Raises ``UserError`` with every refusal when none can."""
    able = [offer for offer in offers if offer.refusal is None]
    if not able:
        refusals = "; ".join(f"{offer.backend} on {offer.device}: {offer.refusal}" for offer in offers)
        raise UserError(
            f"no backend can run this model: {refusals or 'none is installed'}",
            "see `autotune backends` for what is here",
        )
    return able


def runtime(offers: Sequence[Offer]) -> Choice:
    """The runtimes that can run the model, and why others cannot."""
    names = tuple(dict.fromkeys(offer.backend for offer in willing(offers)))
    refused = [offer for offer in offers if offer.refusal is not None]
    omissions = tuple(
        Omission(parameter="runtime", values=(o.backend,), reason=f"{o.device}: {o.refusal}") for o in refused
    )
    parameter = Parameter(name="runtime", choices=names, affects="build", doc="what runs the model")
    return Choice((parameter,), omissions)
