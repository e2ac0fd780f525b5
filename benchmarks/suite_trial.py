"""One model of the ONNX suite on the way of a search, up to the baseline's outputs."""

from __future__ import annotations

import os
import re
import signal
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Timer
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from autotune.core.candidate import Candidate
from autotune.core.dimensions import symbols_in
from autotune.core.errors import TrialError, UserError
from autotune.core.model import TensorFacts
from autotune.core.ports import Session
from autotune.core.samples import Tensors
from autotune.data.dtypes import stored_as
from autotune.measure.check import check_outputs
from autotune.models import read_model
from autotune.replay.standalone import flat_outputs
from benchmarks.subject import Subject, subject
from benchmarks.suite_models import SuiteModel

__all__ = ["Ending", "tried"]

BACKENDS = ("onnxruntime",)
TIME_LIMIT_S = 60.0

How = Literal["equal", "refused", "differs", "wrong", "traceback", "hang"]


@dataclass(frozen=True)
class Ending:
    """How a model ended. ``refused``: with a reason for the user. ``differs``: from the suite, as plain onnxruntime does."""

    model: str
    how: How
    reason: str = ""

    @property
    def group(self) -> str:
        """The reason without what is the model's own: names, types, numbers."""
        return re.sub(r"'[^']*'|\b[\w:]*[\d_][\w:]*\b|\(.*\)", "…", self.reason)[:90]


def tried(model: SuiteModel, folder: Path) -> Ending:
    """Take the model as far as it goes. ``folder`` gets a folder of the model's name."""
    place = folder / model.name.replace("/", "-")
    place.mkdir()
    how: How
    try:
        how, reason = _compared(model, _subject(model, place))
    except (UserError, TrialError) as error:
        how, reason = "refused", str(error).replace("\n", "; ")
    except TimeoutError:
        how, reason = "hang", f"longer than {TIME_LIMIT_S:.0f} s"
    except Exception:
        how, reason = "traceback", traceback.format_exc().strip()
    return Ending(model.name, how, reason)


def _subject(model: SuiteModel, place: Path) -> Subject:
    """Write what a user would have: the model, and its inputs as one sample. Those that no array holds are left out."""
    import onnx

    file, data = place / "model.onnx", place / "data.npz"
    onnx.save(model.proto, file)
    dims = _sizes(read_model(file).inputs, model.inputs)
    if not model.inputs or not all(isinstance(value, np.ndarray | np.generic) for value in model.inputs.values()):
        return subject(file, place / "search", dims=dims, backends=BACKENDS)
    np.savez(data, **{name: _storable(value)[np.newaxis] for name, value in model.inputs.items()})
    return subject(file, place / "search", data, dims=dims, backends=BACKENDS)


def _sizes(inputs: Sequence[TensorFacts], values: Mapping[str, Any]) -> tuple[str, ...]:
    """``--dim`` for every symbol, the batch included: the suite's inputs are one request, whatever their first axis."""
    sizes = {
        dim: size
        for one in inputs
        if isinstance(values[one.name], np.ndarray)
        for dim, size in zip(one.shape or (), values[one.name].shape, strict=False)
        if isinstance(dim, str) and symbols_in(dim) == {dim}
    }
    return tuple(f"{name}={size}" for name, size in sizes.items())


def _storable(value: Any) -> NDArray[Any]:
    """Strings of a fixed width, and numpy's own types: what an ``.npz`` holds."""
    array = np.asarray(value)
    return array.astype(np.str_ if array.dtype == object else stored_as(array.dtype.name))


def _compared(model: SuiteModel, built: Subject) -> tuple[How, str]:
    """Run twice. Outputs that are not the suite's are held against plain onnxruntime's, as every trial's are."""
    inputs = built.inputs[0]
    with _limited(built.open()) as session:
        runs = session.outputs(inputs), session.outputs(inputs)
    expected = flat_outputs(list(model.outputs), list(model.outputs.values()))
    reason = _difference(model, expected, runs[0]) or _difference(model, expected, runs[1])
    if not reason:
        return "equal", ""
    with _limited(_plain(built).open()) as session:
        plain = session.outputs(inputs)
    check_outputs(*runs, plain, exact=True)
    return ("differs" if _difference(model, expected, plain) else "wrong"), reason


def _plain(built: Subject) -> Subject:
    candidate = Candidate({**built.artifact.candidate, "graph_optimization": "disabled"})
    return replace(built, artifact=built.artifact.model_copy(update={"candidate": candidate}))


@contextmanager
def _limited(session: Session) -> Iterator[Session]:
    """Open the session, and end its process when it takes too long. Raises ``TimeoutError`` then."""
    late = Event()
    with session:
        timer = Timer(TIME_LIMIT_S, _end, (session, late))
        timer.start()
        try:
            yield session
        except TrialError as error:
            if late.is_set():
                raise TimeoutError from error
            raise
        finally:
            timer.cancel()


def _end(session: Any, late: Event) -> None:
    late.set()
    os.kill(session.pid, signal.SIGKILL)


def _difference(model: SuiteModel, expected: Tensors, found: Tensors) -> str:
    """The first difference, by the suite's own tolerances; empty: there is none."""
    if list(expected) != list(found):
        return f"outputs are {list(found)}, not {list(expected)}"
    for name, array in expected.items():
        try:
            _assert_alike(model.case, found[name], array)
        except AssertionError as error:
            return f"output {name!r}: {next((line for line in str(error).splitlines() if line.strip()), '')}"
    return ""


def _assert_alike(case: Any, found: NDArray[Any], expected: NDArray[Any]) -> None:
    if expected.dtype.kind in "OUS":
        assert found.tolist() == expected.tolist(), "other strings"
        return
    assert found.dtype == expected.dtype, f"{found.dtype} instead of {expected.dtype}"
    wide = [array.astype(np.float64) if array.dtype.kind in "fV" else array for array in (found, expected)]
    np.testing.assert_allclose(*wide, rtol=case.rtol, atol=case.atol)
