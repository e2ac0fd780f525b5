"""Tries a model in a runtime once: only then is it seen whether the runtime takes it, and whether it takes batches."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autotune.core.artifact import Artifact
from autotune.core.device import DeviceSpec
from autotune.core.errors import TrialError, UserError
from autotune.core.model import BatchAxis, ModelFacts
from autotune.core.ports import Session
from autotune_backends.batches import differing_rows

__all__ = ["Probe", "try_once"]

_ANSWER_S = 120.0
"""How long one answer may take, the start of the runtime among it."""


@dataclass(frozen=True)
class Probe:
    """``refusal`` None: the model opens. ``batch``: whether two samples in one run give what they give in two."""

    refusal: str | None
    batch: BatchAxis


def try_once(
    model: ModelFacts,
    device: DeviceSpec,
    opener: str,
    build: Callable[[Path], Artifact],
    look: Callable[[Session], str | None] = lambda _: None,
) -> Probe:
    """Build the model into a folder that goes again, and open it in a process of its own: the caller never holds the
    runtime's threads. ``look`` says what is wrong with the open session; None: nothing. A refusal is in the runtime's words.
    """
    from autotune.measure.session_process import SessionProcess

    alone = BatchAxis(works=False, symbol=model.batch.symbol, reason=model.batch.reason)
    with tempfile.TemporaryDirectory(prefix="autotune-probe-") as folder:
        try:
            with SessionProcess(opener, build(Path(folder)), device, _ANSWER_S) as session:
                refusal = look(session)
                return Probe(refusal, alone if refusal else _batch(model, session))
        except TrialError as error:
            return Probe(error.message, alone)


def _batch(model: ModelFacts, session: Session) -> BatchAxis:
    if model.batch.symbol is None:
        return model.batch
    try:
        reason = differing_rows(model, session.outputs)
    except (TrialError, UserError) as error:
        reason = f"batch 2 was tried and failed: {str(error).splitlines()[0]}"
    return BatchAxis(works=not reason, symbol=model.batch.symbol, reason=reason)
