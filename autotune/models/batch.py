"""Finds the batch axis by what the inputs' shapes say. Whether it works is seen by running, elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autotune.core.errors import UserError
from autotune.core.model import BatchAxis, TensorFacts
from autotune.models.dims import is_length

__all__ = ["batch_axis"]


def batch_axis(inputs: Sequence[TensorFacts], asked: Mapping[str, int]) -> BatchAxis:
    """Return the symbol that every input has as its first axis, or the reason why there is no batch axis.

    A symbol that the user ``asked`` a size for is fixed: then it is an axis like any other. ``works`` is False: nothing was
    run yet. Raises ``UserError`` for a batch that is asked to be empty: a cache may be, a request may not.
    """
    for one in inputs:
        reason = _reason(one)
        if reason:
            return BatchAxis(works=False, reason=reason)
    symbols = {str(one.shape[0]): one.name for one in inputs if one.shape}
    if len(symbols) != 1:
        named = ", ".join(f"{symbol} in {name}" for symbol, name in symbols.items())
        return BatchAxis(works=False, reason=f"the inputs' first axes differ: {named}" if named else "no inputs")
    symbol = next(iter(symbols))
    if asked.get(symbol) == 0:
        raise UserError(f"--dim {symbol}=0: a batch holds at least one sample", "leave it out: the search sets it")
    if symbol in asked:
        return BatchAxis(works=False, reason=f"--dim fixes {symbol} at {asked[symbol]}")
    return BatchAxis(works=False, symbol=symbol, reason="not probed")


def _reason(one: TensorFacts) -> str | None:
    if one.kind != "tensor":
        return f"input {one.name!r} is a {one.kind}"
    if not one.shape:
        return f"input {one.name!r} is a scalar" if one.shape == () else f"input {one.name!r} has no known rank"
    first = one.shape[0]
    if isinstance(first, int):
        return f"the first axis of input {one.name!r} is fixed at {first}"
    if first is not None and is_length(first):
        return f"the first axis of input {one.name!r} is {first}, a length"
    return None
