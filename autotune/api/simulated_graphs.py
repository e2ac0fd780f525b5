"""What differs in the search of an ONNX graph on simulated devices: its load, its goals, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.api.loads import load_of
from autotune.api.settings import SearchSettings
from autotune.api.this_host import calibration_of
from autotune.core.assignment import SearchContext
from autotune.core.errors import UserError, nearest
from autotune.core.limits import Limit, parse_limit
from autotune.core.objective import Objective, objective
from autotune.core.space import SearchSpace
from autotune.core.workload import Workload

__all__ = ["graph_limits", "graph_load", "graph_objectives", "graph_remarks", "refuse_unpriced_load"]

_LOADS = ("single_stream", "offline")
_OF_PHASE = {"single_stream": ("latency_p50",), "offline": ("throughput",)}
_ALWAYS = ("energy", "power", "battery_life", "lead_time", "memory", "size", "cost_per_million_items", "cost_per_month")
_GOALS = {
    "latency": ("latency_p50", "energy"),
    "throughput": ("throughput", "memory"),
    "energy": ("energy", "latency_p50"),
    "cost": ("cost_per_million_items", "latency_p50"),
}


def graph_load(settings: SearchSettings) -> Workload:
    """The load as it is searched. Raises ``UserError`` for what graphs are not simulated under."""
    for option, given in (("--rate", settings.rate is not None), ("--spare", settings.spare > 0)):
        if given:
            raise UserError(f"{option} is for language models", "leave it out: graphs are priced alone, and offline")
    workload = load_of(settings)
    refuse_unpriced_load(workload)
    return workload


def refuse_unpriced_load(workload: Workload) -> None:
    """Raise ``UserError`` for a load with another phase than single runs and whole batches."""
    for phase in workload.phases:
        if phase.scenario not in _LOADS:
            raise UserError(
                f"workload {workload.name!r}: graphs are not simulated under a {phase.scenario} load",
                "take --workload default, latency or throughput",
            )


def graph_objectives(settings: SearchSettings, workload: Workload) -> tuple[Objective, ...]:
    """The named objectives, the goal's, or those by default. Raises ``UserError`` for one that no simulation gives."""
    known = _known(workload)
    for name in settings.objectives:
        if name not in known:
            _refuse("--objective", name, workload)
    goal = tuple(name for name in _GOALS.get(settings.goal or "", ()) if name in known)
    default = (*(name for name in known if name not in _ALWAYS), "energy")
    return tuple(objective(name) for name in dict.fromkeys(settings.objectives or goal or default))


def graph_limits(texts: Sequence[str], workload: Workload) -> tuple[Limit, ...]:
    """The limits as they are given. Raises ``UserError`` for one on what no simulation gives."""
    limits = tuple(parse_limit(text) for text in texts)
    for limit in limits:
        if limit.metric not in _known(workload):
            _refuse("--limit", limit.metric, workload)
    return limits


def graph_remarks(context: SearchContext, space: SearchSpace) -> list[str]:
    """What a person should know before reading the front."""
    sizes = " ".join(
        f"{name}={size}" for name, size in context.model.dims.items() if name != context.model.batch.symbol
    )
    remarks = [told for device in context.devices if (told := calibration_of(device)) is not None]
    remarks += [f"sizes that the graph is priced at: {sizes} (--dim changes them)"] if sizes else []
    remarks += [omission.reason for omission in space.omissions if omission.parameter == "unpriced"]
    remarks.append(
        "what a narrower format loses in quality is unknown here: keep to those that you trust with a space file "
        "(set: {precision: [fp32, fp16]})"
    )
    return remarks


def _known(workload: Workload) -> tuple[str, ...]:
    phases = (phase.scenario for phase in workload.phases)
    return tuple(dict.fromkeys([name for scenario in phases for name in _OF_PHASE.get(scenario, ())])) + _ALWAYS


def _refuse(option: str, name: str, workload: Workload) -> None:
    known = _known(workload)
    why = "is not simulated of a graph"
    if name.startswith("latency_p") and "latency_p50" in known:
        why = "is unknown: runs of a graph are priced, and how their times spread is not"
    elif name in ("accuracy", "accuracy_drop", "fidelity"):
        why = "is unknown: nothing is run"
    raise UserError(f"{option} {name} {why}{nearest(name, known)}", f"known under this load: {', '.join(known)}")
