"""A model as it is, built once and opened as often as wanted: what benchmarks measure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune import plugins
from autotune.api.prepare import prepare
from autotune.api.settings import SearchSettings
from autotune.core.artifact import Artifact
from autotune.core.ports import Session
from autotune.core.samples import Tensors
from autotune.measure import PhaseLoad
from autotune.replay.loads import phase_loads
from autotune.runs.search_file import SearchFile

__all__ = ["Subject", "subject"]

_INPUTS = 32


@dataclass(frozen=True)
class Subject:
    """The baseline of a prepared search. ``inputs`` are single requests."""

    search: SearchFile
    artifact: Artifact
    inputs: tuple[Tensors, ...]

    @property
    def loads(self) -> tuple[PhaseLoad, ...]:
        """The requests of each phase of the workload."""
        return phase_loads(self.search.workload, self.inputs, 1)

    def open(self) -> Session:
        """A session in a process of its own; enter it."""
        context = self.search.context
        return plugins.backend(self.artifact.backend).open(self.artifact, context.devices[0])


def subject(
    model: Path,
    folder: Path,
    data: Path | None = None,
    workload: str = "latency",
    dims: Sequence[str] = (),
    backends: Sequence[str] = (),
) -> Subject:
    """Build the baseline of ``model`` in the new folder ``folder``. ``data`` None: inputs are generated.

    ``dims``, ``backends``: as ``--dim`` and ``--backend`` give them.
    """
    from autotune.data import batches, open_dataset

    settings = SearchSettings(
        model=model,
        data=None if data is None else str(data),
        workload=workload,
        dims=tuple(dims),
        backends=tuple(backends),
        output=folder / "run",
        tracking=False,
    )
    search = prepare(settings).search
    context = search.context
    dataset = open_dataset(context.data, context.model)

    def inputs() -> Iterator[Tensors]:
        return (one for one, _ in batches(dataset, range(len(dataset)), context.model))

    target = folder / "artifact"
    target.mkdir(parents=True)
    backend = plugins.backend(str(context.baseline["runtime"]))
    artifact = backend.build(context.model, context.baseline, context.devices[0], target, inputs)
    return Subject(search, artifact, tuple(itertools.islice(inputs(), _INPUTS)))
