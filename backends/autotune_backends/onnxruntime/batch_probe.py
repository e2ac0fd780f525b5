"""Tries batch 2 for real, once: an axis named N may still be fixed somewhere inside the model."""

from __future__ import annotations

import tempfile
from pathlib import Path

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune.core.errors import TrialError
from autotune.core.model import BatchAxis, ModelFacts
from autotune_backends.batches import differing_rows

__all__ = ["probe_batch"]

_ANSWER_S = 60.0
"""How long one answer may take. A model whose run takes longer gains nothing from batches within any budget."""

_PLAIN = Candidate(graph_optimization="disabled", intra_op_threads=1)


def probe_batch(model: ModelFacts, device: DeviceSpec, opener: str) -> BatchAxis:
    """Return whether two samples in one run give what they give in two; ``reason`` tells why not.

    The model runs in a process of its own, so that the caller never holds the runtime's threads.
    """
    if model.batch.symbol is None:
        return BatchAxis(works=False, reason=model.batch.reason)
    try:
        reason = _run_both(model, device, opener)
    except TrialError as error:
        reason = f"batch 2 was tried and failed: {error.message}"
    return BatchAxis(works=not reason, symbol=model.batch.symbol, reason=reason)


def _run_both(model: ModelFacts, device: DeviceSpec, opener: str) -> str:
    from autotune.measure.session_process import SessionProcess

    with (
        tempfile.TemporaryDirectory(prefix="autotune-probe-") as folder,
        SessionProcess(opener, _loadable(model, Path(folder)), device, _ANSWER_S) as session,
    ):
        return differing_rows(model, session.outputs)


def _loadable(model: ModelFacts, folder: Path) -> Artifact:
    """The model where it lies; a repaired copy in ``folder`` when onnxruntime would refuse it there."""
    from autotune_backends.transform.onnx.repair import Repair

    target = folder / model.path.name
    place = model.path.parent if Repair()(model.path, target).unchanged else folder
    return Artifact(
        backend="onnxruntime",
        folder=place,
        model=model.path.name,
        files=model.files,
        sha256=model.sha256,
        size_bytes=model.size_bytes,
        candidate=_PLAIN,
        custom_op_library=model.custom_op_library,
    )
