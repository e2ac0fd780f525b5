"""Which real measurement would help a simulated search's decision most: read from its run folder."""

from __future__ import annotations

from pathlib import Path

from autotune.core.assignment import SearchContext
from autotune.core.errors import UserError
from autotune.core.frozen import Frozen
from autotune.core.trial import TrialRecord
from autotune.core.values import Value
from autotune.runs.folder import RunFolder
from autotune.searching.next_measurement import NextMeasurement, next_measurement

__all__ = ["Advice", "advise"]


class Advice(Frozen):
    """``found``: what to measure, and what for. ``row``: the setting and its load as a row of a table of points, by column; empty
    when nothing is worth measuring. ``device`` and ``chosen_device`` are names.
    """

    model: str
    found: NextMeasurement
    device: str | None
    chosen_device: str
    row: dict[str, str]


def advise(run: Path) -> Advice:
    """Read the run and think. Raises ``UserError`` when it was measured, or when nothing in it has a price."""
    folder = RunFolder.open(run)
    search = folder.search
    context = search.context
    if search.kind != "simulated":
        raise UserError(f"{run} was measured, not simulated", "name the run folder of a search on simulated devices")
    records = {record.trial.id: record for record in folder.records()}
    found = next_measurement(records.values(), context.limits, context.confidence, fleet=context.fleet is not None)
    if found is None:
        raise UserError(
            f"{run}: no trial of it has a price", "search devices with price_usd_per_h or power in their file"
        )
    picked = records.get(found.trial or "")
    return Advice(
        model=context.model.stem,
        found=found,
        device=picked.trial.device if picked else None,
        chosen_device=records[found.chosen].trial.device,
        row=_row(context, picked) if picked else {},
    )


def _row(context: SearchContext, record: TrialRecord) -> dict[str, str]:
    """What the measured values are to be written beside, in the columns of ``autotune simulate --points``."""
    phase, candidate = context.workload.serving, record.trial.candidate
    assert phase is not None
    assert phase.tokens is not None
    named = context.model.path if context.model.path.is_absolute() else context.model.stem
    return {
        "system": record.trial.device,
        "backend": str(candidate.get("engine", "vllm")),
        "model": str(named),
        "precision": str(candidate.get("precision", "bf16")),
        "tp": str(candidate.get("tp", 1)),
        "pp": str(candidate.get("pp", 1)),
        "concurrency": str(phase.tokens.users or _at_once(record, context)),
        "isl": str(round(phase.tokens.input_tokens.mean)),
        "osl": str(round(phase.tokens.output_tokens.mean)),
    }


def _at_once(record: TrialRecord, context: SearchContext) -> int:
    """Requests in one replica on average: their rate times the time that each takes (Little's law)."""
    assert record.measurement is not None
    metrics, candidate = record.measurement.metrics, record.trial.candidate
    each = int(candidate.get("tp", 1)) * int(candidate.get("pp", 1))
    spare = context.fleet.spare if context.fleet is not None else 0
    replicas = max(1.0, _number(metrics.get("device_count")) / each - spare)
    return max(1, round(_number(metrics.get("request_rate")) * _number(metrics.get("latency_p50")) / replicas))


def _number(value: Value | None) -> float:
    return 0.0 if value is None or value.value is None else value.value
