"""Tries batch 2 for real, once: an axis named N may still be fixed somewhere inside the model."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune.core.errors import TrialError
from autotune.core.model import BatchAxis, ModelFacts
from autotune.core.samples import Tensors

__all__ = ["compare_rows", "probe_batch"]

_ANSWER_S = 60.0
"""How long one answer may take. A model whose run takes longer gains nothing from batches within any budget."""

_PLAIN = Candidate(graph_optimization="disabled", intra_op_threads=1)
_SEED = 0

_EXACT, _HALF, _QUANTISED = 1e-3, 2e-2, 1e-1
"""Largest difference allowed, relative to the output's largest value. Sums are taken in another order at batch 2;
a model that quantises its activations scales them by the whole batch."""


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


def compare_rows(both: Tensors, first: Tensors, second: Tensors, tolerance: float) -> str:
    """Say how the outputs of two samples in one run differ from those of two runs; ``""`` when they do not."""
    for name, rows in both.items():
        expected = [first[name], second[name]]
        if any(part.ndim == 0 or part.shape[0] != 1 for part in expected) or rows.shape[:1] != (2,):
            return f"output {name!r} has no batch axis: {first[name].shape} for one sample, {rows.shape} for two"
        if any(part.shape[1:] != rows.shape[1:] for part in expected):
            return f"output {name!r} has a shape that depends on the values"
        if not _close(rows, np.concatenate(expected), tolerance):
            return f"output {name!r} for two samples in one run differs from that of two runs"
    return ""


def _run_both(model: ModelFacts, device: DeviceSpec, opener: str) -> str:
    from autotune.measure.session_process import SessionProcess

    one, other, both = _inputs(model)
    with (
        tempfile.TemporaryDirectory(prefix="autotune-probe-") as folder,
        SessionProcess(opener, _loadable(model, Path(folder)), device, _ANSWER_S) as session,
    ):
        first, second = session.outputs(one), session.outputs(other)
        return compare_rows(session.outputs(both), first, second, _tolerance(model, first))


def _inputs(model: ModelFacts) -> tuple[Tensors, Tensors, Tensors]:
    """Two generated samples, each as a batch of one, and both as a batch of two."""
    from autotune.data import batches, open_data, open_dataset

    dataset = open_dataset(open_data(None, model, _SEED), model)
    one, other = (inputs for inputs, _ in batches(dataset, [0, 1], model))
    both = next(batches(dataset, [0, 1], model, batch=2))[0]
    return one, other, both


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


def _tolerance(model: ModelFacts, outputs: Tensors) -> float:
    if model.quantised:
        return _QUANTISED
    return _HALF if any(array.dtype == np.float16 for array in outputs.values()) else _EXACT


def _close(found: NDArray[np.generic], expected: NDArray[np.generic], tolerance: float) -> bool:
    if found.dtype.kind != "f":
        return bool(np.array_equal(found, expected))
    scale = float(np.max(np.abs(expected[np.isfinite(expected)]), initial=0.0))
    return bool(np.allclose(found, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True))
