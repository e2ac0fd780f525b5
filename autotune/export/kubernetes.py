"""The formats ``kubernetes`` and ``kserve``: a Deployment with its Service, and an InferenceService. Pure."""

from __future__ import annotations

from typing import Any

import yaml

from autotune.export.served import ServedModel
from autotune.export.vllm import command_line

__all__ = ["kserve_files", "kubernetes_files"]

_IMAGE = "vllm/vllm-openai:latest"
_PORT = 8000
_ANNOTATIONS = {"autotune/provenance": "estimated"}  # of whatever is expected of it: nothing was measured


def kubernetes_files(served: ServedModel) -> dict[str, str]:
    """``deployment.yaml``: every replica a pod, and a Service before them."""
    return {"deployment.yaml": yaml.safe_dump_all([_deployment(served), _service(served)], sort_keys=False)}


def kserve_files(served: ServedModel) -> dict[str, str]:
    """``inference_service.yaml`` for KServe's Hugging Face runtime, which runs vLLM."""
    content = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": served.name, "annotations": _ANNOTATIONS},
        "spec": {
            "predictor": {
                "minReplicas": served.replicas,
                "maxReplicas": served.replicas,
                "model": {
                    "modelFormat": {"name": "huggingface"},
                    "args": [f"--model_name={served.name}", *command_line(served)],
                    "storageUri": f"hf://{served.model}",
                    "resources": _resources(served),
                },
            }
        },
    }
    return {"inference_service.yaml": yaml.safe_dump(content, sort_keys=False)}


def _deployment(served: ServedModel) -> dict[str, Any]:
    container = {
        "name": "vllm",
        "image": _IMAGE,
        "command": ["vllm", "serve", served.model],
        "args": command_line(served),
        "ports": [{"containerPort": _PORT, "name": "http"}],
        "readinessProbe": {"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": 10},
        "resources": _resources(served),
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
    }
    pod = {"containers": [container], "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": served.name, "labels": _labels(served), "annotations": _ANNOTATIONS},
        "spec": {
            "replicas": served.replicas,
            "selector": {"matchLabels": _labels(served)},
            "template": {"metadata": {"labels": _labels(served)}, "spec": pod},
        },
    }


def _service(served: ServedModel) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": served.name, "labels": _labels(served)},
        "spec": {"selector": _labels(served), "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
    }


def _labels(served: ServedModel) -> dict[str, str]:
    return {"app.kubernetes.io/name": served.name}


def _resources(served: ServedModel) -> dict[str, Any]:
    return {"limits": {served.resource: str(served.devices)}}
