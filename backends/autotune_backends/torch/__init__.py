"""The PyTorch backend. ``session`` runs in the session's own process, ``converting`` in one of a build; the rest beside them."""

from __future__ import annotations

from autotune_backends.torch.backend import TorchBackend

__all__ = ["TorchBackend"]
