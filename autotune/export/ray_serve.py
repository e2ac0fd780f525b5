"""The format ``ray-serve``: a Ray Serve LLM application (https://docs.ray.io/en/latest/serve/llm). Pure."""

from __future__ import annotations

import yaml

from autotune.export.served import ServedModel
from autotune.export.vllm import engine_arguments

__all__ = ["ACCELERATORS", "ray_serve_files"]

ACCELERATORS = {  # a device's name → ray.util.accelerators
    "a100-sxm": "A100",
    "h100-sxm": "H100",
    "h200-sxm": "H200",
    "b200-sxm": "B200",
    "l40s": "L40S",
    "l4": "L4",
    "mi300x": "AMD-Instinct-MI300X-OAM",
}


def ray_serve_files(served: ServedModel) -> dict[str, str]:
    """``serve.yaml`` for ``serve deploy``. A device that Ray has no name for is left to the cluster."""
    replicas = {"min_replicas": served.replicas, "max_replicas": served.replicas}
    accelerator = ACCELERATORS.get(served.device)
    model = {
        "model_loading_config": {"model_id": served.name, "model_source": served.model},
        **({"accelerator_type": accelerator} if accelerator is not None else {}),
        "deployment_config": {"autoscaling_config": replicas},
        "engine_kwargs": engine_arguments(served),
    }
    application = {
        "name": served.name,
        "route_prefix": "/",
        "import_path": "ray.serve.llm:build_openai_app",
        "args": {"llm_configs": [model]},
    }
    return {"serve.yaml": yaml.safe_dump({"applications": [application]}, sort_keys=False)}
