"""From a point of a front to what an exported folder states about itself. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.batching import batching_of
from autotune.core.deployment import Deployment, ExportedConfig, Original, Promise, Quality, Source
from autotune.core.dimensions import symbols_in
from autotune.core.errors import UserError, nearest
from autotune.core.front import Front, Point
from autotune.core.limits import Limit
from autotune.core.metrics import find_metric
from autotune.core.model import ModelFacts
from autotune.core.naming import best_of, candidates, named_points
from autotune.core.workload import Phase, Workload
from autotune.runs.search_file import SearchFile

__all__ = ["choose_point", "exported_config", "with_limits"]


def choose_point(front: Front, name: str) -> Point:
    """Return the point called ``name``: an id, knee, fastest, frugal, accurate, baseline, or a metric (its best point).

    Raises ``UserError``, listing what exists.
    """
    named = named_points(front)
    found = front.point(name) or named.get(name) or _best(front, name)
    if found is None:
        ids = [point.id for point in candidates(front)]
        known = [*named, *ids, *front.baseline.metrics]
        metrics = ", ".join(front.baseline.metrics)
        raise UserError(
            f"the front of {front.search} has no point {name!r}{nearest(name, known)}",
            f"points: {', '.join([*named, *ids])}; or the best of a metric: {metrics}",
        )
    return found


def exported_config(
    front: Front, point: Point, deployment: Deployment, search: SearchFile, original: Deployment | None = None
) -> ExportedConfig:
    """Compose ``config.json``. ``original`` is the baseline's deployment, None when its session is not known."""
    device = search.context.device(point.device)
    baseline = None if original is None else Original(session=original.session, batch=original.batch)
    return ExportedConfig(
        format="ort",
        runtime=deployment.runtime,
        model=deployment.model,
        files=deployment.files,
        candidate=point.candidate,
        device=device,
        session=deployment.session,
        batching=batching_of(point.candidate),
        promise=Promise(
            metrics=point.metrics,
            ratios=point.ratios,
            workload=with_limits(front.workload, search.context.limits),
            batch=deployment.batch,
            dims=_sizes(search.facts),
        ),
        quality=_quality(front, point, search),
        environment=front.environment,
        source=Source(search=front.search, trial=point.trial, point=point.id, model_sha256=search.model.sha256),
        original=baseline,
        power=search.context.power,
    )


def with_limits(workload: Workload, limits: Sequence[Limit]) -> Workload:
    """The workload whose server phases hold the search's limits on latency besides their own: ``max_rate`` depends on them."""
    texts = tuple(limit.text for limit in limits if limit.metric.startswith(("latency_p", "response_p")))

    def held(phase: Phase) -> Phase:
        more = tuple(text for text in texts if text not in phase.limits)
        return phase.model_copy(update={"limits": (*phase.limits, *more)}) if phase.scenario == "server" else phase

    return workload.model_copy(update={"phases": tuple(held(phase) for phase in workload.phases)})


def _sizes(model: ModelFacts) -> dict[str, int]:
    """Of single symbols, but for the batch: others follow from them."""
    return {
        symbol: size
        for symbol, size in model.dims.items()
        if symbol != model.batch.symbol and symbols_in(symbol) == [symbol]
    }


def _best(front: Front, name: str) -> Point | None:
    try:
        find_metric(name)
    except UserError:
        return None
    return best_of(front, name)


def _quality(front: Front, point: Point, search: SearchFile) -> Quality:
    value = point.metrics.get(front.quality)
    basis = value.basis if value is not None else None
    return Quality(
        name=front.quality,
        metric=search.metric if front.quality == "accuracy" and search.metric else basis or front.quality,
        data_sha256=search.data.sha256,
        n=(value.n if value is not None else None) or 0,
        generated=search.data.path is None,
        seed=search.data.seed,
        preprocess=search.data.preprocess,
    )
