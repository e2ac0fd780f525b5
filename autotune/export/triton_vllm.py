"""The format ``triton`` of a language model: a model repository for Triton's vLLM backend. Pure.

Triton's vLLM backend (src/model.py there) reads the engine's arguments from ``model.json`` in the version's folder, wants
decoupled transactions and no batching of Triton's own, and completes what inputs and outputs are not listed.
"""

from __future__ import annotations

import json

from autotune.export.served import ServedModel
from autotune.export.vllm import engine_arguments

__all__ = ["triton_vllm_files"]


def triton_vllm_files(served: ServedModel) -> dict[str, str]:
    """The repository of one replica: Triton's ``KIND_MODEL`` leaves all its devices to the engine."""
    place = f"models/{served.name}"
    arguments = {"model": served.model, **engine_arguments(served)}
    return {
        f"{place}/config.pbtxt": _config(served.name),
        f"{place}/1/model.json": json.dumps(arguments, indent=2) + "\n",
        "serve.sh": '#!/bin/sh\nexec tritonserver --model-repository=models "$@"\n',
    }


def _config(name: str) -> str:
    return f"""name: "{name}"
backend: "vllm"
max_batch_size: 0
model_transaction_policy {{ decoupled: true }}
input [
  {{ name: "text_input" data_type: TYPE_STRING dims: [ 1 ] }},
  {{ name: "stream" data_type: TYPE_BOOL dims: [ 1 ] optional: true }},
  {{ name: "sampling_parameters" data_type: TYPE_STRING dims: [ 1 ] optional: true }},
  {{ name: "exclude_input_in_output" data_type: TYPE_BOOL dims: [ 1 ] optional: true }}
]
output [ {{ name: "text_output" data_type: TYPE_STRING dims: [ -1 ] }} ]
instance_group [ {{ count: 1 kind: KIND_MODEL }} ]
"""
