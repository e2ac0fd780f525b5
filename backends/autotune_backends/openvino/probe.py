"""Tries a model in OpenVINO once: it reads most ONNX operators, not all, and says which only when it compiles them."""

from __future__ import annotations

from dataclasses import replace

from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError
from autotune.core.model import ModelFacts
from autotune.core.ports import Session
from autotune_backends.batches import generated
from autotune_backends.openvino.building import build
from autotune_backends.probing import Probe, try_once

__all__ = ["probe"]

_PLAIN = Candidate(runtime="openvino", inference_precision="fp32", intra_op_threads=1)


def probe(model: ModelFacts, device: DeviceSpec, opener: str) -> Probe:
    """Open the model and run it on generated inputs; a refusal says that it cannot be run."""
    found = try_once(
        model,
        device,
        opener,
        lambda folder: build(model, _PLAIN, folder),
        lambda session: _strange_outputs(model, session),
    )
    return (
        found if found.refusal is None else replace(found, refusal=f"OpenVINO cannot run this model: {found.refusal}")
    )


def _strange_outputs(model: ModelFacts, session: Session) -> str | None:
    try:
        (one,) = generated(model, 0)
    except UserError:  # no inputs can be generated: the trials will tell
        return None
    names = [output.name for output in model.outputs]
    found = list(session.outputs(one))
    return None if sorted(found) == sorted(names) else f"its outputs there are {', '.join(found)}"
