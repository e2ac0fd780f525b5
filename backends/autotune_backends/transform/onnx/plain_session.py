"""The session in which quantisers look at a model's own values: nothing optimised away, the threads that may be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["plain_session"]


def plain_session(model: Path | bytes, library: Path | None, *, optimised: bool = False) -> Any:
    """Open a file, or a serialised model, with the user's operators (``library`` None: there are none).

    ``optimised``: rewritten as the runtime likes, for who wants its outputs alone; its threads then leave the CPUs to others
    between runs.
    """
    import onnxruntime as ort

    from autotune.host.cpus import counted_cpus

    options = ort.SessionOptions()
    if optimised:
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    else:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = counted_cpus()
    options.log_severity_level = 3
    if library is not None:
        options.register_custom_ops_library(str(library))
    source = model if isinstance(model, bytes) else str(model)
    return ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])
