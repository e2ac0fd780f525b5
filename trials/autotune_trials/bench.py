"""What the steps of a trial share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autotune import plugins
from autotune.core.artifact import Artifact
from autotune.core.assignment import Assignment, SearchContext
from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune.core.plan import Part
from autotune.core.ports import Backend
from autotune.core.samples import Tensors
from autotune.core.trial import Trial
from autotune.data import Dataset, batches, open_dataset
from autotune.runs.building import obtain_built
from autotune.runs.layout import RunLayout
from autotune_trials.stages import Stages

__all__ = ["Bench", "Built", "set_up"]


@dataclass(frozen=True)
class Built:
    """An artifact; ``build_s`` is None when another trial had built it."""

    artifact: Artifact
    build_s: float | None


@dataclass(frozen=True)
class Bench:
    """A trial's assignment with what it takes to carry it out."""

    assignment: Assignment
    device: DeviceSpec
    layout: RunLayout
    dataset: Dataset
    stages: Stages

    @property
    def trial(self) -> Trial:
        """The trial."""
        return self.assignment.trial

    @property
    def context(self) -> SearchContext:
        """What the search's trials share."""
        return self.assignment.context

    @property
    def paired(self) -> bool:
        """Whether the baseline is measured beside it."""
        return self.trial.plan.paired

    def backend(self, candidate: Candidate) -> Backend:
        """The backend that builds ``candidate``. Raises ``UserError`` when it is not installed."""
        return plugins.backend(str(candidate["runtime"]))

    def indices(self, part: Part) -> tuple[int, ...]:
        """The samples of a part of the data."""
        split = self.context.data.split
        if part == "all":
            return tuple(sorted({*split.calibrate, *split.select, *split.confirm}))
        return split.select if part == "select" else split.confirm

    def inputs(self, indices: Sequence[int], batch: int = 1) -> Iterator[Tensors]:
        """These samples as inputs, in batches."""
        return (inputs for inputs, _ in batches(self.dataset, indices, self.context.model, batch))

    def built(self, candidate: Candidate) -> Built:
        """The candidate's artifact, from the store or built now. Raises ``BuildError``."""
        context = self.context
        before = self.stages.now_s()
        artifact, built_now = obtain_built(
            self.layout, context, candidate, self.device.name, lambda: self.inputs(context.data.split.calibrate)
        )
        return Built(artifact, self.stages.now_s() - before if built_now else None)


def set_up(assignment: Assignment, stages: Stages) -> Bench:
    """Open the data. Raises ``UserError`` when they have gone."""
    context = assignment.context
    return Bench(
        assignment=assignment,
        device=context.device(assignment.trial.device),
        layout=RunLayout(folder=context.folder),
        dataset=open_dataset(context.data, context.model),
        stages=stages,
    )
