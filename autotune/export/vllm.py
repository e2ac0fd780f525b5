"""The format ``vllm``: a file for ``vllm serve --config``; and vLLM's arguments, which other formats pass on. Pure."""

from __future__ import annotations

import json
from typing import Any

import yaml

from autotune.core.errors import UserError
from autotune.export.served import DTYPES, IN_PLACE, ServedModel

__all__ = ["command_line", "engine_arguments", "vllm_files"]

_NAMES = {
    "tp": "tensor_parallel_size",
    "pp": "pipeline_parallel_size",
    "max_num_seqs": "max_num_seqs",
    "max_batched_tokens": "max_num_batched_tokens",
    "chunked_prefill": "enable_chunked_prefill",
    "prefix_caching": "enable_prefix_caching",
    "page_tokens": "block_size",
}
_KV = {"auto": "auto", "fp16": "float16", "bf16": "bfloat16", "fp8": "fp8", "int8": "int8_per_token_head"}
_MEMORY_SHARE = (
    0.9  # of a device's memory, where the candidate does not say: what was simulated, and not vLLM's default
)


def vllm_files(served: ServedModel) -> dict[str, str]:
    """``vllm.yaml`` and the command that takes it.

    A switch that is off is ``no-…: true``: versions of vLLM differ in whether ``…: false`` is read or passed over.
    """
    options = {_option(name, value): _plain(value) for name, value in engine_arguments(served).items()}
    return {
        "vllm.yaml": yaml.safe_dump({"model": served.model} | options, sort_keys=False),
        "serve.sh": '#!/bin/sh\nexec vllm serve --config vllm.yaml "$@"\n',
    }


def command_line(served: ServedModel) -> list[str]:
    """The same as options of ``vllm serve MODEL``; a switch that is off is written ``--no-…``."""
    return [
        f"--{_option(name, value)}" if isinstance(value, bool) else f"--{_option(name, value)}={_plain(value)}"
        for name, value in engine_arguments(served).items()
    ]


def engine_arguments(served: ServedModel) -> dict[str, Any]:
    """VLLM's engine arguments by the names of its Python classes; what the candidate does not say is left to the engine.

    The source is vLLM's own: ``EngineArgs`` (vllm/engine/arg_utils.py) and ``CacheDType`` (vllm/config/cache.py). Raises
    ``UserError`` for a cache in a format that vLLM has no name for.
    """
    candidate = served.candidate
    found: dict[str, Any] = {theirs: candidate[ours] for ours, theirs in _NAMES.items() if ours in candidate}
    if candidate.get("priority_scheduling"):
        found["scheduling_policy"] = "priority"
    if served.precision in DTYPES:
        found["dtype"] = DTYPES[served.precision]
    if served.precision in IN_PLACE:
        found["quantization"] = IN_PLACE[served.precision]
    if candidate.get("draft_model", "none") != "none":
        found["speculative_config"] = {
            "model": candidate["draft_model"],
            "num_speculative_tokens": candidate.get("speculative_tokens", 4),
        }
    cache = str(candidate.get("kv_precision", "auto"))
    if cache not in _KV:
        raise UserError(f"vLLM keeps no KV cache in {cache}", "choose another point with --point")
    return found | {
        "kv_cache_dtype": _KV[cache],
        "gpu_memory_utilization": float(candidate.get("memory_share", _MEMORY_SHARE)),
    }


def _plain(value: Any) -> Any:
    """As a command line takes it: a switch that is off is named otherwise, and what has parts is JSON."""
    if isinstance(value, dict):
        return json.dumps(value)
    return True if value is False else value


def _option(name: str, value: object) -> str:
    option = name.replace("_", "-")
    return f"no-{option}" if value is False else option
