"""How many channels each chain keeps, so that as much arithmetic goes as the ratio says and the least is lost.

One ratio for every chain takes as much from a layer that needs all of its channels as from one that has them to spare. Here the
chain is cut next that loses least for the multiply-adds that go (greedily, as in NetAdapt: Yang et al., 2018).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Product", "kept_counts", "widths"]

_STEPS = 16
"""Numbers of channels that are considered for one chain, at most."""


@dataclass(frozen=True)
class Product:
    """A product of the graph. ``cost``: its multiply-adds before anything is cut.

    ``makes``: the chain that its outputs are the channels of; ``uses``: that whose channels it uses; None: none that is cut.
    """

    cost: float
    makes: int | None = None
    uses: int | None = None


def widths(channels: int, block: int) -> list[int]:
    """The numbers of channels that a chain may keep, falling: all, and whole blocks below, as evenly as 16 of them lie."""
    blocks = -(-channels // block)
    step = max(1, -(-blocks // _STEPS))
    return [channels, *(count * block for count in range(blocks - step, 0, -step) if count * block < channels)]


def kept_counts(
    channels: Sequence[int], errors: Sequence[Mapping[int, float]], products: Sequence[Product], ratio: float
) -> list[int]:
    """How many channels each chain keeps: ``errors`` has, for every width that it may have, what it loses.

    So much arithmetic goes as if ``ratio`` of every chain's channels went; less where too few blocks can be spared.
    """
    kept = list(channels)
    target = _cost(products, channels, [count * (1 - ratio) for count in channels])
    while _cost(products, channels, kept) > target:
        steps = [(index, width) for index, one in enumerate(errors) if (width := _next(one, kept[index])) is not None]
        if not steps:
            break
        index, width = min(steps, key=lambda step: _price(step, kept, channels, errors, products))
        kept[index] = width
    return kept


def _next(errors: Mapping[int, float], kept: int) -> int | None:
    return max((width for width in errors if width < kept), default=None)


def _price(
    step: tuple[int, int],
    kept: Sequence[int],
    channels: Sequence[int],
    errors: Sequence[Mapping[int, float]],
    products: Sequence[Product],
) -> float:
    """Error for each multiply-add that the step saves."""
    index, width = step
    cut = [width if one == index else count for one, count in enumerate(kept)]
    saved = _cost(products, channels, kept) - _cost(products, channels, cut)
    return (errors[index][width] - errors[index][kept[index]]) / max(saved, 1e-9)


def _cost(products: Sequence[Product], channels: Sequence[int], kept: Sequence[float]) -> float:
    shares = [count / whole for count, whole in zip(kept, channels, strict=True)]
    return sum(
        one.cost * (1.0 if one.makes is None else shares[one.makes]) * (1.0 if one.uses is None else shares[one.uses])
        for one in products
    )
