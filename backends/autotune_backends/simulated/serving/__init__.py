"""The event-driven serving simulator: one group of devices that serves a language model's requests."""

from autotune_backends.simulated.serving.metrics import metrics
from autotune_backends.simulated.serving.result import ServingResult
from autotune_backends.simulated.serving.simulate import simulate_serving

__all__ = ["ServingResult", "metrics", "simulate_serving"]
