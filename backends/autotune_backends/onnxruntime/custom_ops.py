"""Operators that neither the standard nor onnxruntime knows."""

from __future__ import annotations

from autotune.core.model import ModelFacts

__all__ = ["custom_domains"]

_KNOWN = frozenset({"ai.onnx", "ai.onnx.ml", "ai.onnx.training", "ai.onnx.preview.training"})
_RUNTIME_PREFIXES = ("com.microsoft", "com.ms.", "org.pytorch.aten")


def custom_domains(model: ModelFacts) -> list[str]:
    """Domains of the model's operators that need a library of their own, sorted."""
    domains = {name.rpartition("::")[0] for name in model.operators} - {""} - _KNOWN
    return sorted(domain for domain in domains if not domain.startswith(_RUNTIME_PREFIXES))
