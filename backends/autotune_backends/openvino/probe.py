"""Tries a model in OpenVINO once: it reads most ONNX operators, not all, and says which only when it compiles them."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune.core.errors import TrialError, UserError
from autotune.core.model import BatchAxis, ModelFacts
from autotune.core.ports import Session
from autotune_backends.batches import differing_rows, generated
from autotune_backends.openvino.building import build

__all__ = ["Probe", "probe"]

_PLAIN = Candidate(runtime="openvino", inference_precision="fp32", intra_op_threads=1)


@dataclass(frozen=True)
class Probe:
    """``refusal`` None: the model runs. ``batch``: whether two samples in one run give what they give in two."""

    refusal: str | None
    batch: BatchAxis


def probe(model: ModelFacts, device: DeviceSpec, opener: str) -> Probe:
    """Open the model and run it on generated inputs, in a process of its own: the caller never holds the runtime's threads."""
    from autotune.measure.session_process import SessionProcess

    alone = BatchAxis(works=False, symbol=model.batch.symbol, reason=model.batch.reason)
    with tempfile.TemporaryDirectory(prefix="autotune-probe-") as folder:
        try:
            with SessionProcess(opener, build(model, _PLAIN, Path(folder)), device) as session:
                refusal = _strange_outputs(model, session)
                return Probe(refusal, alone if refusal else _batch(model, session))
        except TrialError as error:
            return Probe(f"OpenVINO cannot run this model: {error.message}", alone)


def _strange_outputs(model: ModelFacts, session: Session) -> str | None:
    try:
        (one,) = generated(model, 0)
    except UserError:  # no inputs can be generated: the trials will tell
        return None
    names = [output.name for output in model.outputs]
    found = list(session.outputs(one))
    return None if sorted(found) == sorted(names) else f"OpenVINO's outputs are {', '.join(found)}"


def _batch(model: ModelFacts, session: Session) -> BatchAxis:
    if model.batch.symbol is None:
        return model.batch
    try:
        reason = differing_rows(model, session.outputs)
    except (TrialError, UserError) as error:
        reason = f"batch 2 was tried and failed: {str(error).splitlines()[0]}"
    return BatchAxis(works=not reason, symbol=model.batch.symbol, reason=reason)
