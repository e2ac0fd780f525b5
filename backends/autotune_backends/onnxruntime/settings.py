"""From a candidate to onnxruntime's session settings: one pure function for sessions and for exports."""

from __future__ import annotations

from autotune.core.candidate import Candidate
from autotune.core.deployment import SessionSettings

__all__ = ["GRAPH_OPTIMIZATION", "PROVIDERS", "session_settings"]

GRAPH_OPTIMIZATION = {
    "disabled": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "layout": "ORT_ENABLE_LAYOUT",
    "all": "ORT_ENABLE_ALL",
}
"""Our values → names in ``onnxruntime.GraphOptimizationLevel``."""

_EXECUTION_MODE = {"sequential": "ORT_SEQUENTIAL", "parallel": "ORT_PARALLEL"}
_ERRORS_ONLY = 3

PROVIDERS = ("CPUExecutionProvider",)
"""Never Azure's, a remote call, although ``get_available_providers()`` lists it."""


def session_settings(candidate: Candidate, cpus: int) -> SessionSettings:
    """Return what to set on ``SessionOptions``, so that an exported folder needs onnxruntime alone to do the same.

    Enumerations are given by their names in ``GraphOptimizationLevel`` and ``ExecutionMode``. Parameters that the
    candidate lacks take the runtime's defaults, except threads: ``cpus`` of them, because onnxruntime counts the
    host's cores, not those that may be used.
    """
    memory = candidate.get("memory", "pattern")
    spinning = "1" if candidate.get("spinning", True) else "0"
    return SessionSettings(
        options={
            "graph_optimization_level": GRAPH_OPTIMIZATION[str(candidate.get("graph_optimization", "all"))],
            "execution_mode": _EXECUTION_MODE[str(candidate.get("execution_mode", "sequential"))],
            "intra_op_num_threads": int(candidate.get("intra_op_threads", cpus)),
            "inter_op_num_threads": int(candidate.get("inter_op_threads", 1)),
            "enable_cpu_mem_arena": memory != "system",
            "enable_mem_pattern": memory == "pattern",
            "log_severity_level": _ERRORS_ONLY,
        },
        config_entries={"session.intra_op.allow_spinning": spinning, "session.inter_op.allow_spinning": spinning},
        providers=PROVIDERS,
    )
