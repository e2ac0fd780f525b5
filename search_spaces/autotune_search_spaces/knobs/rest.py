"""Parameters that no knob here governs: a backend of another package may offer its own."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from autotune.core.space import Offer
from autotune_search_spaces.knobs.choice import Choice, take

__all__ = ["rest"]


def rest(offers: Sequence[Offer], governed: Collection[str]) -> Choice:
    """Everything else that is offered or omitted, in the offers' order."""
    offered = [parameter.name for offer in offers for parameter in offer.parameters]
    omitted = [omission.parameter for offer in offers for omission in offer.omissions]
    return take([name for name in dict.fromkeys([*offered, *omitted]) if name not in governed], offers)
