"""The session in which quantisers look at a model's own values: nothing optimised away, the threads that may be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["plain_session"]


def plain_session(model: Path | bytes, library: Path | None) -> Any:
    """Open a file, or a serialised model, with the user's operators (``library`` None: there are none)."""
    import onnxruntime as ort

    from autotune.host.cpus import counted_cpus

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = counted_cpus()
    options.log_severity_level = 3
    if library is not None:
        options.register_custom_ops_library(str(library))
    source = model if isinstance(model, bytes) else str(model)
    return ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])
