"""Trial records as rows of MLflow: pure functions from the journal's words to parameters, metrics and tags."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from autotune.core.candidate import Candidate, Scalar
from autotune.core.front import BASELINE_ID
from autotune.core.metrics import find_metric
from autotune.core.objective import Objective
from autotune.core.trial import Failure, Measurement, SameAs, TrialRecord
from autotune.core.values import Value
from autotune.runs.search_file import SearchFile
from autotune_trials.mlflow_names import ABSENT, PARAMETER_LENGTH, SEARCH, STATUS, TRIAL, safe_name

__all__ = ["Row", "metrics_of", "parameters_of", "provenance_of", "ratios_of", "row_of", "status_of"]


@dataclass(frozen=True)
class Row:
    """One run. Times in Unix milliseconds; ``files`` maps a file's name to its text; ``note`` is Markdown.

    ``ended`` is MLflow's own run status: FINISHED or FAILED.
    """

    name: str
    started_ms: int
    finished_ms: int
    ended: str
    parameters: dict[str, str]
    metrics: dict[str, float]
    tags: dict[str, str]
    note: str = ""
    files: dict[str, str] = field(default_factory=dict)


def row_of(record: TrialRecord, search: SearchFile) -> Row:
    """The run that shows ``record``."""
    trial, measurement = record.trial, record.measurement
    parameters = parameters_of(trial.candidate, search)
    metrics = metrics_of(measurement.metrics, search.objectives) if measurement else {}
    return Row(
        name=BASELINE_ID if trial.parent is None and trial.repeat == 0 else trial.id,
        started_ms=round(record.started_s * 1000),
        finished_ms=round(record.finished_s * 1000),
        ended="FAILED" if isinstance(record.outcome, Failure) else "FINISHED",
        parameters={name: _fitting(value) for name, value in parameters.items()} | {"device": trial.device},
        metrics=metrics,
        tags=_tags(record, search) | (provenance_of(measurement.metrics) if measurement else {}),
        note=_note(record),
        files=_whole_candidate(trial.candidate, parameters),
    )


def parameters_of(candidate: Candidate, search: SearchFile) -> dict[str, str]:
    """Every parameter of the space as text, "–" where it does not apply; those outside the space too."""
    names = [parameter.name for parameter in search.space.parameters]
    values = {name: candidate.get(name) for name in [*names, *candidate]}
    return {safe_name(name): ABSENT if value is None else _text(value) for name, value in values.items()}


def metrics_of(values: Mapping[str, Value], objectives: tuple[Objective, ...]) -> dict[str, float]:
    """Known numbers in the units people read; of the objectives, intervals and parts (by shape, by output) too.

    Never NaN or infinite: MLflow would show 1.8e308.
    """
    optimised = {objective.metric for objective in objectives}
    found: dict[str, float | None] = {}
    for name, value in values.items():
        metric = find_metric(name)
        found[metric.shown_name] = _shown(value.value, metric.shown_factor)
        if name in optimised:
            found[f"interval/{metric.shown_name}_low"] = _shown(value.low, metric.shown_factor)
            found[f"interval/{metric.shown_name}_high"] = _shown(value.high, metric.shown_factor)
            parts = ((safe_name(part), one) for part, one in value.parts.items())
            found |= {f"{part}/{metric.shown_name}": _shown(one.value, metric.shown_factor) for part, one in parts}
    return {name: number for name, number in found.items() if number is not None}


def ratios_of(ratios: Mapping[str, Value]) -> dict[str, float]:
    """This point / the baseline, as ``ratio/<metric>``."""
    found = {f"ratio/{find_metric(name).name}": _shown(value.value, 1.0) for name, value in ratios.items()}
    return {name: number for name, number in found.items() if number is not None}


def provenance_of(values: Mapping[str, Value]) -> dict[str, str]:
    """Tags that say where the numbers come from, and which are unknown."""
    kinds: dict[str, list[str]] = {}
    for name, value in sorted(values.items()):
        kind = value.provenance if value.known else "unknown"
        kinds.setdefault(kind, []).append(find_metric(name).shown_name)
    unknown = kinds.pop("unknown", [])
    said = "; ".join(f"{kind}: {' '.join(names)}" for kind, names in sorted(kinds.items()))
    tags = {"autotune.provenance": said} if said else {}
    return tags | ({"autotune.unknown": " ".join(unknown)} if unknown else {})


def status_of(record: TrialRecord, search: SearchFile) -> str:
    """``ok``, ``infeasible``, ``same_as`` or ``failed:<stage>/<cause>``."""
    match record.outcome:
        case Failure(stage=stage, cause=cause):
            return f"failed:{stage}/{cause}"
        case SameAs():
            return "same_as"
        case Measurement(metrics=metrics):
            return "infeasible" if _breaks_a_limit(metrics, search) else "ok"


def _breaks_a_limit(metrics: Mapping[str, Value], search: SearchFile) -> bool:
    return any(
        limit.standing(metrics[limit.metric]) == "broken" for limit in search.context.limits if limit.metric in metrics
    )


def _tags(record: TrialRecord, search: SearchFile) -> dict[str, str]:
    trial = record.trial
    tags = {
        SEARCH: search.id,
        TRIAL: trial.id,
        STATUS: status_of(record, search),
        "autotune.purpose": trial.purpose,
        "autotune.device": trial.device,
        "autotune.runtime": str(trial.candidate.get("runtime", ABSENT)),
    }
    if isinstance(record.outcome, SameAs):
        tags["autotune.same_as"] = record.outcome.trial
    if record.measurement and not record.measurement.steady:
        tags["autotune.steady"] = "false"
    if record.measurement and record.measurement.stopped:
        tags["autotune.stopped"] = record.measurement.stopped
    return tags


def _note(record: TrialRecord) -> str:
    match record.outcome:
        case Failure(stage=stage, cause=cause, message=message):
            return f"**{stage} failed ({cause})**\n\n{_indented(message)}"
        case SameAs(trial=trial, reason=reason):
            return f"Same as {trial}: {reason}"
        case Measurement(notes=notes):
            return "\n".join(f"- {note}" for note in notes)


def _indented(message: str, at_most: int = PARAMETER_LENGTH) -> str:
    whole = (
        message
        if len(message) <= at_most
        else f"{message[:at_most]}\n… (cut here: the run folder's journal has it all)"
    )
    return "\n".join(f"    {line}" for line in whole.splitlines())


def _whole_candidate(candidate: Candidate, parameters: Mapping[str, str]) -> dict[str, str]:
    too_long = any(len(value) > PARAMETER_LENGTH for value in parameters.values())
    return {"candidate.json": candidate.model_dump_json(indent=2)} if too_long else {}


def _fitting(value: str) -> str:
    if len(value) <= PARAMETER_LENGTH:
        return value
    ending = f"… ({len(value):,} characters: whole in candidate.json)"
    return value[: PARAMETER_LENGTH - len(ending)] + ending


def _text(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shown(number: float | None, factor: float) -> float | None:
    shown = None if number is None else number * factor
    return shown if shown is not None and math.isfinite(shown) else None
