"""From a candidate to how it is opened: one pure function for sessions and for exports."""

from __future__ import annotations

from typing import Any

from autotune.core.candidate import Candidate
from autotune.core.deployment import SessionSettings
from autotune_backends.onnxruntime import settings as onnxruntime

__all__ = ["build_options", "session_settings"]


def session_settings(candidate: Candidate, cpus: int) -> SessionSettings:
    """What ``TorchSession`` is told, or onnxruntime where the program was exported to it. ``cpus``: threads by default."""
    if candidate.get("kernels") == "onnxruntime":
        return onnxruntime.session_settings(candidate, cpus)
    options: dict[str, Any] = {
        **build_options(candidate),
        "num_threads": int(candidate.get("intra_op_threads", cpus)),
        "spinning": candidate.get("spinning") is not False,
    }
    if candidate.get("kernels") != "inductor":
        options["channels_last"] = candidate.get("channels_last") is True
        options["attention"] = str(candidate.get("attention", "flash"))
    return SessionSettings(runtime="torch", options=options)


def build_options(candidate: Candidate) -> dict[str, str]:
    """What results depend on besides the program: a part of the artifact, and so of its hash."""
    kernels = str(candidate.get("kernels", "eager"))
    found = {"kernels": kernels}
    if kernels != "onnxruntime":
        found["precision"] = str(candidate.get("inference_precision", "fp32"))
    if kernels == "eager":
        found["linear_weights"] = str(candidate.get("linear_weights", "float"))
    return found
