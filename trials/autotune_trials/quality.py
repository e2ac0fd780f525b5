"""Quality: taken once an artifact, device and part of the data, and kept in the run folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import TypeAdapter, ValidationError

from autotune.core.artifact import Artifact
from autotune.core.limits import Limit
from autotune.core.ports import Session
from autotune.core.samples import Tensors
from autotune.core.values import Value
from autotune.data import batches
from autotune.measure.quality import take_quality
from autotune.runs.atomic import write_atomic
from autotune_trials.bench import Bench

__all__ = ["broken_limit", "quality_of"]

_VALUES = TypeAdapter(dict[str, Value])


def quality_of(bench: Bench, session: Session, artifact: Artifact, reference: Sequence[Tensors]) -> dict[str, Value]:
    """The artifact's fidelity to the unoptimised model and, with labels, its accuracy. Raises ``MeasureError``."""
    part = bench.trial.plan.quality
    file = bench.layout.quality(artifact.sha256, bench.device.name, part)
    try:
        return _VALUES.validate_json(file.read_bytes())
    except (OSError, ValidationError):
        pass
    context = bench.context
    samples = bench.indices(part)[: len(reference)]
    values = take_quality(
        session.outputs,
        batches(bench.dataset, samples, context.model),
        reference,
        context.metric,
        context.data.path is None,
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(file, _VALUES.dump_json(values, indent=1))
    return values


def broken_limit(limits: Sequence[Limit], values: Mapping[str, Value]) -> Limit | None:
    """The first limit that ``values`` certainly break; None when there is none, or they say nothing about it."""
    known = (limit for limit in limits if limit.metric in values)
    return next((limit for limit in known if limit.standing(values[limit.metric]) == "broken"), None)
