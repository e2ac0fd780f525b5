"""The format ``ray-serve``: a Ray Serve LLM application (https://docs.ray.io/en/latest/serve/llm). Pure."""

from __future__ import annotations

import yaml

from autotune.export.served import ServedModel

__all__ = ["ray_serve_files"]


def ray_serve_files(served: ServedModel) -> dict[str, str]:
    """``serve.yaml`` for ``serve deploy``."""
    replicas = {"min_replicas": served.replicas, "max_replicas": served.replicas}
    model = {
        "model_loading_config": {"model_id": served.name, "model_source": served.model},
        "deployment_config": {"autoscaling_config": replicas},
        "engine_kwargs": dict(served.arguments),
    }
    application = {
        "name": served.name,
        "route_prefix": "/",
        "import_path": "ray.serve.llm:build_openai_app",
        "args": {"llm_configs": [model]},
    }
    return {"serve.yaml": yaml.safe_dump({"applications": [application]}, sort_keys=False)}
