"""A language model's server in virtual time."""

from __future__ import annotations

from autotune_backends.simulated.serving.metrics import metrics
from autotune_backends.simulated.serving.result import ServingResult
from autotune_backends.simulated.serving.simulate import simulate_pair, simulate_serving

__all__ = ["ServingResult", "metrics", "simulate_pair", "simulate_serving"]
