"""The onnxruntime backend. ``session`` runs in the session's own process; everything else, beside it."""

from __future__ import annotations

from autotune_backends.onnxruntime.backend import OnnxRuntimeBackend

__all__ = ["OnnxRuntimeBackend"]
