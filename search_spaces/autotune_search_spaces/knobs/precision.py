"""Number format of weights and products, and how it is reached."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.space import Offer
from autotune_search_spaces.knobs.choice import Choice, take

__all__ = ["PRECISION", "precision"]

PRECISION = (
    "precision",
    "inference_precision",
    "linear_weights",
    "int8_per_channel",
    "quantised_share",
    "int8_reduce_range",
    "int8_operators",
    "int8_static_operators",
    "int8_types",
    "int8_calibration",
    "weight_block",
    "weight_products",
)


def precision(offers: Sequence[Offer]) -> Choice:
    """The first value of ``precision`` is the model as it is. The rest is what one format or another leaves to choose."""
    return take(PRECISION, offers)
