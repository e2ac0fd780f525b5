"""From a point of a run to an exported folder."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from autotune import plugins
from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.errors import BuildError, OpenError, UserError
from autotune.core.front import Front, Point
from autotune.core.samples import Tensors
from autotune.runs.folder import RunFolder

if TYPE_CHECKING:
    from autotune.export import ReplaySamples

__all__ = ["Exporter"]


class Exporter:
    """Exports points of one run. The original's outputs are taken once, however many points are exported.

    ``samples`` False leaves samples.npz out, ``original`` False the original model.
    """

    def __init__(self, run: RunFolder, front: Front, *, samples: bool = True, original: bool = True) -> None:
        self._run, self._front = run, front
        self._with_samples, self._with_original = samples, original
        self._samples: ReplaySamples | None = None

    def export(self, point: Point, to: Path) -> Path:
        """Write ``point`` as an exported folder. Raises ``UserError`` when ``to`` cannot be written, or it cannot be built."""
        from autotune.export import OriginalFiles, exported_config, write_export

        context = self._run.search.context
        artifact = self._artifact(point.candidate, point.device)
        backend = plugins.backend(artifact.backend)
        baseline = plugins.backend(str(context.baseline["runtime"]))
        plain = self._artifact(context.baseline, point.device)
        config = exported_config(
            self._front,
            point,
            backend.deployment(artifact, point.candidate),
            self._run.search,
            baseline.deployment(plain, context.baseline),
        )
        write_export(
            to,
            config,
            artifact.folder,
            artifact.files,
            samples=self._replay_samples(point.device) if self._with_samples else None,
            original=OriginalFiles(plain.folder, plain.model, plain.files) if self._with_original else None,
            custom_op_library=context.custom_op_library,
        )
        return to

    def _artifact(self, candidate: Candidate, device: str) -> Artifact:
        """The candidate's artifact from the run's store; built again when it was cleaned away."""
        from autotune.runs.building import obtain_built

        run = self._run
        try:
            return obtain_built(run.layout, run.search.context, candidate, device, self._calibration, checked=True)[0]
        except BuildError as error:
            raise UserError(
                f"the point cannot be built again: {error.message}", "is the model still where it was?"
            ) from error

    def _calibration(self) -> Iterable[Tensors]:
        from autotune.data import batches, open_dataset

        context = self._run.search.context
        dataset = open_dataset(context.data, context.model)
        return (inputs for inputs, _ in batches(dataset, context.data.split.calibrate, context.model))

    def _replay_samples(self, device: str) -> ReplaySamples:
        if self._samples is None:
            self._samples = self._take_samples(device)
        return self._samples

    def _take_samples(self, device: str) -> ReplaySamples:
        """Ask the unoptimised model for its outputs on samples that no candidate was chosen by."""
        from autotune.data import batches, open_dataset
        from autotune.export import collect_samples

        context = self._run.search.context
        reference = self._artifact(context.reference, device)
        backend = plugins.backend(str(context.reference["runtime"]))
        pairs = batches(open_dataset(context.data, context.model), context.data.split.confirm, context.model)
        try:
            with backend.open(reference, context.device(device)) as session:
                return collect_samples(itertools.islice(pairs, 64), session.outputs)
        except OpenError as error:
            raise UserError(
                f"the original model does not open: {error.message}", "--no-samples exports without it"
            ) from error
