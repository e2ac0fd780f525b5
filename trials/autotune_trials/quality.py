"""Quality: taken once an artifact, device and part of the data, and kept in the run folder; a part of the samples first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from autotune.core.artifact import Artifact
from autotune.core.limits import Limit
from autotune.core.ports import Session
from autotune.core.samples import Tensors
from autotune.core.values import Value
from autotune.data import batches
from autotune.measure.quality import take_quality
from autotune.measure.staged import at_best, first_stage
from autotune.runs.atomic import write_atomic
from autotune_trials.bench import Bench

__all__ = ["ArtifactQuality", "broken_limit"]

_VALUES = TypeAdapter(dict[str, Value])


class ArtifactQuality:
    """An artifact's fidelity to the unoptimised model, whose outputs are ``reference``, and, with labels, its accuracy.

    ``values`` is what is known so far: from as many samples as another trial of the artifact ran already, else those of the
    first stage (run now, which may raise ``MeasureError``).
    """

    def __init__(self, bench: Bench, session: Session, artifact: Artifact, reference: Sequence[Tensors]) -> None:
        self._bench, self._session, self._reference = bench, session, reference
        self._file = bench.layout.quality(artifact.sha256, bench.device.name, bench.trial.plan.quality)
        self._answers: dict[int, Tensors] = {}
        first = first_stage(range(len(reference)), bench.context.seed)
        self.values: dict[str, Value] = _read(self._file) or self._take(first)

    @property
    def whole(self) -> bool:
        """Whether every sample was run."""
        return self.values["fidelity"].n == len(self._reference)

    def for_the_race(self) -> Mapping[str, Value]:
        """What racing may rely on: a part of the samples, other than those of the front's points, proves no loss by a value."""
        return self.values if self.whole else at_best(self.values)

    def complete(self) -> None:
        """Run the samples that were not run yet. Raises ``MeasureError``."""
        if not self.whole:
            self.values = self._take(range(len(self._reference)))

    def _take(self, positions: Sequence[int]) -> dict[str, Value]:
        context = self._bench.context
        samples = self._bench.indices(self._bench.trial.plan.quality)
        order = iter(positions)
        values = take_quality(
            lambda inputs: self._answer(next(order), inputs),
            batches(self._bench.dataset, [samples[position] for position in positions], context.model),
            [self._reference[position] for position in positions],
            context.metric,
            context.data.path is None,
        )
        self._file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(self._file, _VALUES.dump_json(values, indent=1))
        return values

    def _answer(self, position: int, inputs: Tensors) -> Tensors:
        if position not in self._answers:
            self._answers[position] = self._session.outputs(inputs)
        return self._answers[position]


def broken_limit(limits: Sequence[Limit], values: Mapping[str, Value]) -> Limit | None:
    """The first limit that ``values`` certainly break; None when there is none, or they say nothing about it."""
    known = (limit for limit in limits if limit.metric in values)
    return next((limit for limit in known if limit.standing(values[limit.metric]) == "broken"), None)


def _read(file: Path) -> dict[str, Value]:
    """Empty when nothing was taken yet."""
    try:
        return _VALUES.validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return {}
