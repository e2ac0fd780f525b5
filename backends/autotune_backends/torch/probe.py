"""Tries a program once, eagerly: only then is it seen whether PyTorch here reads it, and whether it takes batches."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune.core.errors import TrialError, UserError
from autotune.core.model import BatchAxis, ModelFacts
from autotune.core.ports import Session
from autotune_backends.batches import differing_rows
from autotune_backends.torch.building import build

__all__ = ["Probe", "probe"]

_PLAIN = Candidate(runtime="torch", kernels="eager", intra_op_threads=1)
_ANSWER_S = 120.0
"""How long one answer may take, torch's own start among it."""


@dataclass(frozen=True)
class Probe:
    """``refusal`` None: the program opens. ``batch``: whether two samples in one run give what they give in two."""

    refusal: str | None
    batch: BatchAxis


def probe(model: ModelFacts, device: DeviceSpec, opener: str) -> Probe:
    """Open the program in a process of its own: the caller neither loads it nor imports torch."""
    from autotune.measure.session_process import SessionProcess

    alone = BatchAxis(works=False, symbol=model.batch.symbol, reason=model.batch.reason)
    with tempfile.TemporaryDirectory(prefix="autotune-probe-") as folder:
        try:
            with SessionProcess(opener, build(model, _PLAIN, Path(folder)), device, _ANSWER_S) as session:
                return Probe(None, _batch(model, session))
        except TrialError as error:
            return Probe(f"PyTorch cannot open this program: {error.message}", alone)


def _batch(model: ModelFacts, session: Session) -> BatchAxis:
    if model.batch.symbol is None:
        return model.batch
    try:
        reason = differing_rows(model, session.outputs)
    except (TrialError, UserError) as error:
        reason = f"batch 2 was tried and failed: {str(error).splitlines()[0]}"
    return BatchAxis(works=not reason, symbol=model.batch.symbol, reason=reason)
