"""The parameters that a simulated candidate may have, so that a misspelt one is told and not ignored."""

from __future__ import annotations

from collections.abc import Iterable

from autotune.core.errors import UserError, nearest

__all__ = ["refuse_unknown"]

_GRAPH = ("precision", "batch_size", "sparsity", "fusion")
_LAYOUT = ("precision", "kv_precision", "tp", "pp", "page_tokens", "sparsity", "memory_share", "engine")
_POLICY = (
    "batching",
    "batch_delay_s",
    "max_num_seqs",
    "max_batched_tokens",
    "chunked_prefill",
    "prefix_caching",
    "priority_scheduling",
    "preemption",
    "swap_space_bytes",
)
_DRAFT = ("draft_model", "draft_precision", "draft_tp", "speculative_tokens", "acceptance", "acceptance_source")
_TRANSFER = ("transfer_bandwidth", "transfer_latency_s")
_SERVER = (*_LAYOUT, *_POLICY, *_DRAFT)
_SERVING = (*_SERVER, *_TRANSFER, "decode_device", *(f"decode_{name}" for name in _SERVER))


def refuse_unknown(names: Iterable[str], *, graph: bool) -> None:
    """Raise ``UserError`` for a name that nothing reads. ``graph``: of a priced graph, else of a language model's server."""
    known = _GRAPH if graph else _SERVING
    for name in names:
        if name not in (*known, "runtime"):
            listed = ", ".join(_GRAPH if graph else (*_SERVER, *_TRANSFER))
            raise UserError(f"candidate: there is no parameter {name!r}{nearest(name, known)}", f"parameters: {listed}")
