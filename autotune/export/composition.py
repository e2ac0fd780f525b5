"""From a point of a front to what an exported folder states about itself. Pure."""

from __future__ import annotations

from autotune.core.deployment import Deployment, ExportedConfig, Original, Promise, Quality, Source
from autotune.core.errors import UserError, nearest
from autotune.core.front import Front, Point
from autotune.core.metrics import find_metric
from autotune.core.naming import best_of, candidates, named_points
from autotune.runs.search_file import SearchFile

__all__ = ["choose_point", "exported_config"]


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
    baseline = None if original is None else Original(session=original.session, batch=original.batch)
    return ExportedConfig(
        format="ort",
        runtime=deployment.runtime,
        model=deployment.model,
        files=deployment.files,
        candidate=point.candidate,
        device=search.context.device(point.device),
        session=deployment.session,
        promise=Promise(metrics=point.metrics, ratios=point.ratios, workload=front.workload, batch=deployment.batch),
        quality=_quality(front, point, search),
        environment=front.environment,
        source=Source(search=front.search, trial=point.trial, point=point.id, model_sha256=search.model.sha256),
        original=baseline,
        power=search.context.power,
    )


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
