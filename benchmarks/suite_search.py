"""One model of the ONNX suite searched: every point of its front must give the suite's outputs, as exported and run alone."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Self

import autotune
from autotune.core.front import Point
from autotune.core.samples import Tensors
from autotune.core.trial import Failure, TrialRecord
from autotune.data import batches, open_dataset
from autotune.replay.folder import read_exported
from autotune.replay.sides import open_side, sides
from autotune.runs.arrays import read_tensors
from autotune.runs.folder import RunFolder
from benchmarks.suite_ending import Ending, How, ended
from benchmarks.suite_files import written
from benchmarks.suite_models import SuiteModel
from benchmarks.suite_outputs import difference, distance
from benchmarks.suite_trial import BACKENDS, limited

__all__ = ["searched"]

BUDGET_S = 12.0
TIME_LIMIT_S = 120.0
OBJECTIVES = ("latency_p50", "size", "fidelity")
"""With ``size``, a smaller format is on the front however fast it is: more of what was built is held against the suite."""


class _Late(BaseException):
    """Of no kind that the search handles."""


def searched(model: SuiteModel, folder: Path, trials: int) -> Ending:
    """Search with so many trials in processes of their own. ``folder`` gets a folder of the model's name. Main thread only."""
    place = folder / model.name.replace("/", "-")
    place.mkdir()

    def take() -> Ending:
        with _at_most(TIME_LIMIT_S):
            return _Searched.of(model, _search(model, place, trials)).judged(place / "exports")

    return ended(model, take)


def _search(model: SuiteModel, place: Path, trials: int) -> autotune.Run:
    files = written(model, place)
    return autotune.search(
        files.model,
        data=None if files.data is None else str(files.data),
        dims=files.dims,
        trials=trials,
        budget=BUDGET_S,
        workload="latency",
        objectives=OBJECTIVES,
        energy="off",
        backends=BACKENDS,
        executor="process",
        tracking=False,
        output=place / "run",
    )


@dataclass(frozen=True)
class _Searched:
    """A finished search, and the unoptimised model's outputs for the suite's inputs."""

    model: SuiteModel
    run: autotune.Run
    inputs: Tensors
    plain: Tensors
    shaping: tuple[str, ...]

    @classmethod
    def of(cls, model: SuiteModel, run: autotune.Run) -> Self:
        """Read the run folder."""
        folder = RunFolder.open(run.path)
        context = folder.search.context
        inputs, _ = next(batches(open_dataset(context.data, context.model), [0], context.model))
        plain = read_tensors(folder.layout.reference(context.devices[0].name, "select"))[0]
        return cls(model, run, inputs, plain, context.build_parameters)

    def judged(self, exports: Path) -> Ending:
        """How the model ended: as its worst point."""
        points = {point.id: point for point in (self.run.front.baseline, *self.run.front.points)}.values()
        faults = [fault for point in points if (fault := self._fault(point, exports))]
        how, reason = min(faults, key=lambda fault: fault[0] != "wrong", default=("equal", ""))
        lossy = sum(map(self._lossy, points))
        return Ending(self.model.name, how, reason, len(points), lossy, tuple(_failures(self.run.records())))

    def _fault(self, point: Point, exports: Path) -> tuple[How, str] | None:
        """How the exported point's outputs are not the suite's, and whether the unoptimised model's are so, too."""
        compared = distance if self._lossy(point) else difference
        reason = compared(self.model, _outputs(self.run.export(exports / point.id, point.id), self.inputs))
        if not reason:
            return None
        return "differs" if compared(self.model, self.plain) else "wrong", f"{point.id}: {reason}"

    def _lossy(self, point: Point) -> bool:
        """Whether the point's files are others than the baseline's."""
        baseline = self.run.front.baseline.candidate
        return any(point.candidate.get(name) != baseline.get(name) for name in self.shaping)


def _outputs(folder: Path, inputs: Tensors) -> Tensors:
    with sides(folder, read_exported(folder), None) as both, limited(open_side(both.exported, both.device)) as session:
        return session.outputs(inputs)


def _failures(records: Sequence[TrialRecord]) -> Iterator[str]:
    for record in records:
        if isinstance(record.outcome, Failure):
            yield f"{record.trial.candidate.get('precision')} {record.outcome.stage}: {record.outcome.message}"


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raises ``TimeoutError`` when the block takes longer. Main thread only."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise _Late

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except _Late as late:
        raise TimeoutError(f"longer than {seconds:.0f} s") from late
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
