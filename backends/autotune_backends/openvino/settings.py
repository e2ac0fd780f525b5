"""From a candidate to OpenVINO's properties: one pure function for sessions and for exports."""

from __future__ import annotations

from autotune.core.candidate import Candidate
from autotune.core.deployment import SessionSettings

__all__ = ["PRECISIONS", "session_settings"]

PRECISIONS = {"fp32": "f32", "bf16": "bf16", "fp16": "f16"}
"""Our values → those of the property INFERENCE_PRECISION_HINT."""


def session_settings(candidate: Candidate, cpus: int) -> SessionSettings:
    """Return the properties to compile the model with (docs.openvino.ai, "CPU Device", "Supported Properties").

    Every choice of OpenVINO's own is fixed, or it would follow the machine: the precision (bf16 wherever there is AMX), the
    threads, and one stream, so that all of them work on the same request.
    """
    return SessionSettings(
        runtime="openvino",
        options={
            "INFERENCE_PRECISION_HINT": PRECISIONS[str(candidate.get("inference_precision", "fp32"))],
            "INFERENCE_NUM_THREADS": int(candidate.get("intra_op_threads", cpus)),
            "NUM_STREAMS": 1,
        },
        providers=("CPU",),
    )
