"""The least that must change in a candidate for its model to fit: more devices, a narrower format, or both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from autotune.core.candidate import Candidate, Scalar
from autotune_backends.simulated.devices import SimulatedDevice
from autotune_backends.simulated.groups import groups_of
from autotune_backends.simulated.precision import PRECISIONS, precision_named
from autotune_backends.simulated.refusals import Infeasible
from autotune_backends.simulated.transformers import TransformerModel

__all__ = ["Change", "least_change", "nearest_fit", "with_change"]

_FORMATS = ("fp8", "int8", "int8_weights", "fp4", "int4")  # those that are offered
_MOST_DEVICES = 64

Change = dict[str, Scalar]


def nearest_fit(
    model: TransformerModel, device: SimulatedDevice, candidate: Mapping[str, Scalar], tokens: int = 0
) -> str:
    """``"it fits with tp=4, or with precision=int4"``; empty when nothing of the kind does.

    ``tokens``: of the longest request, whose KV cache has to fit beside the weights.
    """

    def fits(change: Change) -> bool:
        try:
            groups = groups_of(model, device, Candidate({**candidate, **change}))
        except Infeasible:
            return False
        return all(group.costs.kv_capacity_tokens >= tokens for group in groups)

    return least_change(_wider(candidate), _narrower(candidate), fits)


def least_change(first: Iterable[Change], second: Iterable[Change], fits: Callable[[Change], bool]) -> str:
    """The earliest of each kind that ``fits``, or of both kinds together where neither helps alone; in words, empty for none."""
    one, other = list(first), list(second)
    alone = [found for kind in (one, other) if (found := next(filter(fits, kind), None)) is not None]
    both = ({**more, **less} for more in one for less in other)
    ways = alone or [found for found in [next(filter(fits, both), None)] if found is not None]
    return f"it fits with {', or with '.join(map(_said, ways))}" if ways else ""


def with_change(problem: str, change: str) -> str:
    """What is wrong, and what would mend it, if anything does."""
    return f"{problem}; {change}" if change else problem


def _wider(candidate: Mapping[str, Scalar]) -> Iterator[Change]:
    """More devices of either group, or of both."""
    names = ("tp",) if candidate.get("decode_device", "none") == "none" else ("tp", "decode_tp")
    for chosen in [*((name,) for name in names), *([names] if len(names) > 1 else [])]:
        yield from _doubled(candidate, chosen)


def _doubled(candidate: Mapping[str, Scalar], names: Sequence[str]) -> Iterator[Change]:
    sizes = {name: int(candidate.get(name, candidate.get("tp", 1))) for name in names}
    while max(sizes.values()) * 2 <= _MOST_DEVICES:
        sizes = {name: 2 * size for name, size in sizes.items()}
        yield dict(sizes)


def _narrower(candidate: Mapping[str, Scalar]) -> Iterator[Change]:
    now = precision_named(str(candidate.get("precision", "bf16"))).weight_bits
    return ({"precision": name} for name in _FORMATS if PRECISIONS[name].weight_bits < now)


def _said(change: Change) -> str:
    return " ".join(f"{name}={value}" for name, value in change.items())
