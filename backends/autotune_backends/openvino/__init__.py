"""The OpenVINO backend. ``session`` runs in the session's own process; everything else, beside it."""

from __future__ import annotations

from autotune_backends.openvino.backend import OpenVinoBackend

__all__ = ["OpenVinoBackend"]
