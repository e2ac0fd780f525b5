"""One model of the ONNX suite on the way of a search, up to the baseline's outputs."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Timer
from typing import Any

from autotune.core.candidate import Candidate
from autotune.core.errors import TrialError
from autotune.core.ports import Session
from autotune.measure.check import check_outputs
from benchmarks.subject import Subject, subject
from benchmarks.suite_ending import Ending, ended
from benchmarks.suite_files import written
from benchmarks.suite_models import SuiteModel
from benchmarks.suite_outputs import difference

__all__ = ["BACKENDS", "limited", "tried"]

BACKENDS = ("onnxruntime",)
TIME_LIMIT_S = 60.0


def tried(model: SuiteModel, folder: Path) -> Ending:
    """Take the model as far as its baseline goes. ``folder`` gets a folder of the model's name."""
    place = folder / model.name.replace("/", "-")
    place.mkdir()
    return ended(model, lambda: _compared(model, _subject(model, place)))


def _subject(model: SuiteModel, place: Path) -> Subject:
    files = written(model, place)
    return subject(files.model, place / "search", files.data, dims=files.dims, backends=BACKENDS)


def _compared(model: SuiteModel, built: Subject) -> Ending:
    """Run twice. Outputs that are not the suite's are held against plain onnxruntime's, as every trial's are."""
    inputs = built.inputs[0]
    with limited(built.open()) as session:
        runs = session.outputs(inputs), session.outputs(inputs)
    reason = difference(model, runs[0]) or difference(model, runs[1])
    if not reason:
        return Ending(model.name, "equal")
    with limited(_plain(built).open()) as session:
        plain = session.outputs(inputs)
    check_outputs(*runs, plain, exact=True)
    return Ending(model.name, "differs" if difference(model, plain) else "wrong", reason)


def _plain(built: Subject) -> Subject:
    candidate = Candidate({**built.artifact.candidate, "graph_optimization": "disabled"})
    return replace(built, artifact=built.artifact.model_copy(update={"candidate": candidate}))


@contextmanager
def limited(session: Session) -> Iterator[Session]:
    """Open the session, and end its process when it takes too long. Raises ``TimeoutError`` then."""
    late = Event()
    with session:
        timer = Timer(TIME_LIMIT_S, _end, (session, late))
        timer.start()
        try:
            yield session
        except TrialError as error:
            if late.is_set():
                raise TimeoutError(f"longer than {TIME_LIMIT_S:.0f} s") from error
            raise
        finally:
            timer.cancel()


def _end(session: Any, late: Event) -> None:
    late.set()
    os.kill(session.pid, signal.SIGKILL)
