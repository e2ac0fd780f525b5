"""Keys: the same work has the same key, and is done once."""

from __future__ import annotations

from autotune.core.assignment import SearchContext
from autotune.core.candidate import Candidate
from autotune.core.hashing import hash_json
from autotune.core.plan import Plan

__all__ = ["build_key", "trial_key"]


def trial_key(context: SearchContext, candidate: Candidate, device: str, plan: Plan, repeat: int) -> str:
    """Return the key of a trial: model, candidate, device, workload, plan, repeat, quality data, versions and host."""
    simulated = {"fleet": context.fleet, "ownership": context.ownership}
    return hash_json(
        {
            **{name: what.model_dump(mode="json") for name, what in simulated.items() if what is not None},
            "model": context.model.sha256,
            "candidate": candidate.model_dump(),
            "device": context.device(device).model_dump(mode="json"),
            "workload": context.workload.model_dump(mode="json"),
            "plan": plan.model_dump(mode="json"),
            "repeat": repeat,
            "data": context.data.sha256,
            "metric": context.metric,
            "environment": context.environment.sha256,
        }
    )


def build_key(context: SearchContext, candidate: Candidate, device: str) -> str:
    """Return the key of a build: model, the parameters that change the artifact, device, calibration data and versions."""
    shaping = {name: value for name, value in candidate.items() if name in context.build_parameters}
    return hash_json(
        {
            "model": context.model.sha256,
            "candidate": shaping,
            "device": context.device(device).model_dump(mode="json"),
            "data": context.data.sha256,
            "custom_ops": str(context.custom_op_library or ""),
            "versions": context.environment.versions,
        }
    )
