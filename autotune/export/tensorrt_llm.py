"""The format ``tensorrt-llm``: a file for ``trtllm-serve --extra_llm_api_options``. Pure.

Its keys are those of TensorRT-LLM's ``TorchLlmArgs`` and ``KvCacheConfig`` (llm-api reference, 1.4).
"""

from __future__ import annotations

from typing import Any

import yaml

from autotune.core.errors import UserError
from autotune.export.served import DTYPES, ServedModel

__all__ = ["llm_options", "tensorrt_llm_files"]

_NAMES = {
    "tp": "tensor_parallel_size",
    "pp": "pipeline_parallel_size",
    "max_num_seqs": "max_batch_size",
    "max_batched_tokens": "max_num_tokens",
    "chunked_prefill": "enable_chunked_prefill",
}
_CACHE_NAMES = {"prefix_caching": "enable_block_reuse", "page_tokens": "tokens_per_block"}
_KV = ("auto", "fp8")


def tensorrt_llm_files(served: ServedModel) -> dict[str, str]:
    """``options.yaml`` and the command that takes it."""
    command = f'exec trtllm-serve "${{MODEL:-{served.model}}}" --extra_llm_api_options options.yaml "$@"'
    return {
        "options.yaml": yaml.safe_dump(llm_options(served), sort_keys=False),
        "serve.sh": f"#!/bin/sh\n{command}\n",
    }


def llm_options(served: ServedModel) -> dict[str, Any]:
    """The options by TensorRT-LLM's names; what the candidate does not say is left to the engine.

    Weights come in the checkpoint's format: the engine converts none. Sequences give way where the cache is full
    (``MAX_UTILIZATION``), as they did in the simulation; by default it would not start what might have to.
    Raises ``UserError`` for a cache in a format that the engine does not keep.
    """
    candidate = served.candidate
    if candidate.get("draft_model", "none") != "none":
        raise UserError("a draft model is not written for TensorRT-LLM", "take --format vllm, or another point")
    cache = str(candidate.get("kv_precision", "auto"))
    if cache not in _KV:
        raise UserError(f"TensorRT-LLM keeps no KV cache in {cache}", "choose another point with --point")
    options: dict[str, Any] = {theirs: candidate[ours] for ours, theirs in _NAMES.items() if ours in candidate}
    if served.precision in DTYPES:
        options["dtype"] = DTYPES[served.precision]
    kept = {theirs: candidate[ours] for ours, theirs in _CACHE_NAMES.items() if ours in candidate}
    return options | {
        "kv_cache_config": {"dtype": cache, **kept},
        "scheduler_config": {"capacity_scheduler_policy": "MAX_UTILIZATION"},
    }
