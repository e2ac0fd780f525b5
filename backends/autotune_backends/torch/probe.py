"""Tries a program once, eagerly: only then is it seen whether PyTorch here reads it."""

from __future__ import annotations

from dataclasses import replace

from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune.core.model import ModelFacts
from autotune_backends.probing import Probe, try_once
from autotune_backends.torch.building import build

__all__ = ["probe"]

_PLAIN = Candidate(runtime="torch", kernels="eager", intra_op_threads=1)


def probe(model: ModelFacts, device: DeviceSpec, opener: str) -> Probe:
    """Open the program; a refusal says that it cannot be."""
    found = try_once(model, device, opener, lambda folder: build(model, _PLAIN, folder))
    return (
        found if found.refusal is None else replace(found, refusal=f"PyTorch cannot open this program: {found.refusal}")
    )
