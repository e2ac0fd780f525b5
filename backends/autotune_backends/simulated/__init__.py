"""Devices that one does not own: language models served on them in virtual time."""

from autotune_backends.simulated.backend import SimulatedBackend

__all__ = ["SimulatedBackend"]
